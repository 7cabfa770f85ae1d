"""Errors of tasks that ran together."""


def first_leaf(raised: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first error in `raised` that is no group itself."""
    first = raised.exceptions[0]
    return first_leaf(first) if isinstance(first, BaseExceptionGroup) else first
