"""Small matters of wording that the report and the command line share."""


def counted(number: int, one: str, many: str = "") -> str:
    """Return `number` with its noun: `many`, or `one` with an s, unless it is one."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
