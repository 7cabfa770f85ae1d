"""Values as models give them, fitted to a JSON Schema where their meaning is beyond doubt.

What does not fit is left as it is, for validation to name.
"""

import re
from collections.abc import Mapping

Schema = Mapping[str, object]

_NUMBER = re.compile(r"[-+]?\d+(?:[ ,_]\d{3})*(?:\.\d+)?\Z|[-+]?\.\d+\Z")
_BULLET = re.compile(r"\s*(?:[-*•]|\d{1,2}[.)])\s+(?=\S)")
_YES = {"true", "yes"}
_NO = {"false", "no"}
_DEEPEST = 40


def fit(value: object, schema: Schema) -> object:
    """Return `value` in the form that `schema` (with its `$defs`) asks for, as far as it has it.

    Keys and enumerated values are found in any case and spelling; a missing envelope is added and
    one too many taken off; lists lose their holes and inner lists; numbers are read out of "100%"
    and "1,200"; a text loses the name of its field before it ("Query: …").
    """
    definitions = schema.get("$defs")
    return _Fitter(definitions if isinstance(definitions, Mapping) else {}).fit(value, schema, "")


class _Fitter:
    def __init__(self, definitions: Mapping[str, object]) -> None:
        self._definitions = definitions

    def fit(self, value: object, schema: Schema, name: str, depth: int = 0) -> object:
        schema = self._resolve(schema)
        if depth > _DEEPEST:
            return value
        if branches := _schemas(schema.get("anyOf") or schema.get("oneOf")):
            return self._fit_branch(value, branches, name, depth)
        if "enum" in schema or "const" in schema:
            return _fit_enum(value, schema)
        match schema.get("type"):
            case "object":
                return self._fit_object(value, schema, depth)
            case "array":
                return self._fit_array(value, schema, name, depth)
            case "number" | "integer":
                return _fit_number(value, schema)
            case "boolean":
                return _fit_boolean(value)
            case "string":
                return _fit_text(value, name)
            case _:
                return value

    def _resolve(self, schema: Schema) -> Schema:
        for _ in range(_DEEPEST):
            reference = schema.get("$ref")
            if not isinstance(reference, str):
                break
            found = self._definitions.get(reference.rsplit("/", 1)[-1])
            schema = found if isinstance(found, Mapping) else {}
        return schema

    def _fit_branch(self, value: object, branches: list[Schema], name: str, depth: int) -> object:
        if value is None:
            return None
        resolved = [self._resolve(branch) for branch in branches]
        same = [branch for branch in resolved if _has_type(value, branch)]
        able = same or [branch for branch in resolved if branch.get("type") != "null"]
        return self.fit(value, able[0], name, depth + 1) if able else value

    def _fit_object(self, value: object, schema: Schema, depth: int) -> object:
        properties = _mapping(schema.get("properties"))
        if not properties:
            return value
        value = self._enveloped(value, properties)
        if not isinstance(value, Mapping):
            return value
        names = {_plain(name): name for name in properties}
        fitted: dict[str, object] = {}
        for key, each in value.items():
            name = key if key in properties else names.get(_plain(str(key)), str(key))
            if name in fitted and key not in properties:
                continue
            inner = properties.get(name)
            fitted[name] = (
                self.fit(each, inner, name, depth + 1) if isinstance(inner, Mapping) else each
            )
        return fitted

    def _enveloped(self, value: object, properties: Mapping[str, object]) -> object:
        """Take off an envelope that the schema does not have, or add the one it has."""
        known = {_plain(name) for name in properties}
        if isinstance(value, Mapping):
            inner = [each for each in value.values() if isinstance(each, Mapping)]
            if not known & {_plain(str(key)) for key in value} and len(inner) == 1:
                return inner[0]
            return value
        if isinstance(value, list):
            lists = [
                name
                for name, each in properties.items()
                if isinstance(each, Mapping) and self._resolve(each).get("type") == "array"
            ]
            if len(value) == 1 and isinstance(value[0], Mapping):
                keys = {_plain(str(key)) for key in value[0]}
                if known & keys or not lists:
                    return value[0]
            if len(lists) == 1:
                return {lists[0]: value}
        return value

    def _fit_array(self, value: object, schema: Schema, name: str, depth: int) -> object:
        if value is None:
            return value
        items = self._resolve(_mapping(schema.get("items")))
        of_lists = items.get("type") == "array"
        given = value if isinstance(value, list) else _listed(value)
        if not of_lists:
            given = _flat(given)
        if items.get("type") == "string":
            given = [_only_text(each) for each in given]
            given = [each for each in given if not (isinstance(each, str) and not each.strip())]
        return [self.fit(each, items, name, depth + 1) for each in given if each is not None]


def _schemas(value: object) -> list[Schema]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _mapping(value: object) -> Schema:
    return value if isinstance(value, Mapping) else {}


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).casefold()


def _flat(values: list[object]) -> list[object]:
    flat: list[object] = []
    for value in values:
        flat.extend(_flat(value)) if isinstance(value, list) else flat.append(value)
    return flat


def _listed(value: object) -> list[object]:
    """Return the lines of a text that is a list in Markdown, or a list of the one value."""
    lines = value.strip().split("\n") if isinstance(value, str) else []
    if len(lines) > 1 and all(_BULLET.match(line) for line in lines):
        return [_BULLET.sub("", line) for line in lines]
    return [value]


def _only_text(value: object) -> object:
    """Return the text of `{"query": "…"}`, which stands for it in a list of texts."""
    if isinstance(value, Mapping) and len(value) == 1:
        (only,) = value.values()
        return only if isinstance(only, str) else value
    return value


def _has_type(value: object, schema: Schema) -> bool:
    kinds: dict[object, type | tuple[type, ...]] = {
        "object": dict,
        "array": list,
        "string": str,
        "integer": int,
        "number": (int, float),
        "boolean": bool,
    }
    kind = kinds.get(schema.get("type"))
    if kind is None:
        return False
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def _fit_enum(value: object, schema: Schema) -> object:
    listed = schema.get("enum")
    options = listed if isinstance(listed, list) else [schema.get("const")]
    if value in options or not isinstance(value, str):
        return value
    found = [option for option in options if _plain(str(option)) == _plain(value)]
    return found[0] if len(found) == 1 else value


def _fit_number(value: object, schema: Schema) -> object:
    if not isinstance(value, str):
        whole = schema.get("type") == "integer" and isinstance(value, float) and value.is_integer()
        return int(value) if whole and isinstance(value, float) else value
    text = value.strip().lstrip("~≈").strip()
    percent = text.endswith("%")
    text = text.removesuffix("%").strip()
    if not _NUMBER.match(text):
        return value
    number = float(re.sub("[ ,_]", "", text))
    most = schema.get("maximum")
    if percent and isinstance(most, int | float) and most <= 1:
        number /= 100
    return int(number) if number.is_integer() else number


def _fit_boolean(value: object) -> object:
    if isinstance(value, str) and value.strip().casefold() in _YES | _NO:
        return value.strip().casefold() in _YES
    return value


def _fit_text(value: object, name: str) -> object:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not name:
        return value
    singular = re.sub(r"ies$", "y", name) if name.endswith("ies") else name.removesuffix("s")
    words = "|".join({re.escape(each).replace("_", "[ _-]") for each in (name, singular)})
    label = rf"(?i)\s*(?:(?:sub|search)[ _-]?)?(?:{words})(?: ?#?\d+)?\s*:\s*(?=\S)"
    found = re.match(label, value)
    return value[found.end() :] if found else value
