"""How text of strangers is put into Markdown that people are shown."""


def cell(text: str) -> str:
    """Return `text` so that it stays what it is within a table's cell."""
    for sign in "\\`*_[]<>|#":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("\n", " ")
