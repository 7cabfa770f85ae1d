"""Copies of states with changes: `dataclasses.replace`, in a twentieth of its time.

A run's state is copied twice or more for every event that is appended or read, and that was half
the time of folding it.
"""

from typing import TYPE_CHECKING, Any, TypeVar

__all__ = ["replace"]

T = TypeVar("T")

if TYPE_CHECKING:
    from dataclasses import replace  # so that every name and type is checked
else:

    def replace(state: T, /, **changes: Any) -> T:
        """Return a copy of `state`, a plain dataclass without slots, with `changes`."""
        copy = object.__new__(type(state))
        object.__setattr__(copy, "__dict__", {**state.__dict__, **changes})
        return copy
