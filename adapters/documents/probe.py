"""What a child process is given to see that its limits hold: work that must not succeed."""

from state.values.blocks import Conversion, Outcome


def exceed_memory(data: bytes, name: str, media_type: str) -> Conversion:
    """Ask for more memory than any reader gets; return `ok` only where nothing stops that."""
    held = bytearray(4 * 1024**3)
    return Conversion(Outcome.OK, f"{len(held)} bytes were to be had")
