"""Small matters of wording that the report and the command line share."""


def counted(number: int, one: str, many: str = "") -> str:
    """Return `number` with its noun: `many`, or `one` with an s, unless it is one."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def plain_problem(message: str) -> str:
    """Return what a validator found wrong, without what pydantic puts before a validator's words.

    Every message of pydantic goes through here before anybody sees it, person or model.
    """
    return message.removeprefix("Value error, ").removeprefix("Assertion failed, ")
