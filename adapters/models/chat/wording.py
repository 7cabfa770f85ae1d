"""A JSON Schema as a model is shown it: nothing that only a validator needs."""

from collections.abc import Mapping

from state.values.ids import canonical_json

# Their values are texts for people, except where they are the names of properties.
_FOR_PEOPLE = frozenset({"title", "default", "examples", "$schema"})
_NAMED = frozenset({"properties", "$defs"})
_MOST_OPTIONS = 8


def in_words(schema: Mapping[str, object], *, is_bound: bool = False) -> str:
    """Return `schema` as short JSON, without titles and defaults.

    When the answer `is_bound` to the schema all the same, long lists of options are left out too.
    """
    return canonical_json(_shorter(schema, is_bound=is_bound))


def _shorter(value: object, *, is_bound: bool, has_names: bool = False) -> object:
    if isinstance(value, list):
        return [_shorter(each, is_bound=is_bound) for each in value]
    if not isinstance(value, Mapping):
        return value
    return {
        key: _shorter(each, is_bound=is_bound, has_names=key in _NAMED and not has_names)
        for key, each in value.items()
        if has_names or not _is_needless(key, each, is_bound=is_bound)
    }


def _is_needless(key: str, value: object, *, is_bound: bool) -> bool:
    if key in _FOR_PEOPLE:
        return True
    return is_bound and key == "enum" and isinstance(value, list) and len(value) > _MOST_OPTIONS
