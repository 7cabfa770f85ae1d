"""Who uses this process."""

import getpass
import os


def user_name() -> str:
    """Return the operating system's name for the user; in a container there may be only a number.

    Raises nothing: who asks is recorded, and decides nothing but what a policy says of the name.
    """
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # OSError from Python 3.13 on
        return f"uid-{os.getuid()}"
