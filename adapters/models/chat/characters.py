"""Characters that came in halves."""


def mended(text: str) -> str:
    """Return `text` with each pair of surrogates as the one character it stands for.

    Half a pair alone, which no encoding can carry, becomes U+FFFD.
    """
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
