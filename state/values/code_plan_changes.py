"""What changed between two versions of a code plan."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from state.values.code_plan import CodePlan, Component, PaperCitation, PlannedFile, Quantity

_MOST = 160  # characters of a value that are shown

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field of an entry, as text on both sides."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class EntryChange:
    """An entry on both sides, and which of its fields differ."""

    name: str
    fields: tuple[FieldChange, ...]


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of one part, by name: in the order of the later plan, what is gone as it was."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[EntryChange, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Tell whether the part is the same on both sides."""
        return not (self.added or self.removed or self.changed)


@dataclass(frozen=True, slots=True)
class CodePlanChanges:
    """What is different in the later version; empty where nothing is.

    Files go by path, components by id, quantities by name and component, requirements by name,
    ambiguities by their question. `texts` are the title and the parts in words. `order` holds both
    orders of the files that both versions have, where they differ.
    """

    texts: tuple[FieldChange, ...]
    files: Entries
    components: Entries
    quantities: Entries
    requirements: Entries
    ambiguities: Entries
    tests: Entries
    order: tuple[tuple[str, ...], tuple[str, ...]] | None

    @property
    def is_empty(self) -> bool:
        """Tell whether both versions say the same."""
        parts = (
            *(self.files, self.components, self.quantities),
            *(self.requirements, self.ambiguities, self.tests),
        )
        return not self.texts and self.order is None and all(part.is_empty for part in parts)

    def as_text(self) -> str:
        """Return the changes for people, a line each; `No change.` for none."""
        lines = [
            *_told_fields("", self.texts),
            *_told("file", self.files),
            *_told("component", self.components),
            *_told("quantity", self.quantities),
            *_told("requirement", self.requirements),
            *_told("ambiguity", self.ambiguities),
            *_told("test file", self.tests),
        ]
        if self.order:
            before, after = (", ".join(order) for order in self.order)
            lines += ["~ order", f"    was: {before}", f"    now: {after}"]
        return "\n".join(lines) if lines else "No change."


def diff_code_plans(old: CodePlan, new: CodePlan) -> CodePlanChanges:
    """Return what is different in `new`. Where a quote was found in the source is no change."""
    return CodePlanChanges(
        texts=tuple(_text_changes(old, new)),
        files=_entries(old.file_structure, new.file_structure, lambda file: file.path, _file),
        components=_entries(
            old.implementation_components,
            new.implementation_components,
            lambda part: part.id,
            _component,
        ),
        quantities=_entries(old.quantities, new.quantities, _quantity_name, _quantity),
        requirements=_entries(
            old.environment_setup.requirements,
            new.environment_setup.requirements,
            lambda each: each.name,
            lambda each: {"specifier": each.specifier, "ecosystem": each.ecosystem},
        ),
        ambiguities=_entries(
            old.ambiguities,
            new.ambiguities,
            lambda each: each.question,
            lambda each: {"resolution": each.resolution},
        ),
        tests=_entries(
            old.validation_approach.tests,
            new.validation_approach.tests,
            lambda path: path,
            lambda _: {},
        ),
        order=_order_change(old, new),
    )


def _text_changes(old: CodePlan, new: CodePlan) -> Iterator[FieldChange]:
    said = [
        {
            "title": plan.title,
            "validation_approach": plan.validation_approach.approach,
            "implementation_strategy": plan.implementation_strategy.approach,
            "language": plan.environment_setup.language,
            "language version": plan.environment_setup.version,
            "environment notes": plan.environment_setup.notes,
        }
        for plan in (old, new)
    ]
    yield from _field_changes(*said)


def _field_changes(before: dict[str, str], after: dict[str, str]) -> Iterator[FieldChange]:
    for name, was in before.items():
        if was != after[name]:
            yield FieldChange(name, was, after[name])


def _entries(
    old: Iterable[T],
    new: Iterable[T],
    name_of: Callable[[T], str],
    said: Callable[[T], dict[str, str]],
) -> Entries:
    was, now = _named(old, name_of), _named(new, name_of)
    both = [name for name in now if name in was]
    changes = {name: tuple(_field_changes(said(was[name]), said(now[name]))) for name in both}
    return Entries(
        tuple(name for name in now if name not in was),
        tuple(name for name in was if name not in now),
        tuple(EntryChange(name, changes[name]) for name in both if changes[name]),
    )


def _named(entries: Iterable[T], name_of: Callable[[T], str]) -> dict[str, T]:
    """Return the entries by name; of several with one name the later ones are numbered."""
    found: dict[str, T] = {}
    for entry in entries:
        name = first = name_of(entry)
        number = 1
        while name in found:
            number += 1
            name = f"{first} #{number}"
        found[name] = entry
    return found


def _fields(entry: Any, *left_out: str) -> dict[str, str]:
    """Return the fields of a value as text, lists with commas between."""
    return {
        field.name: _spelled(getattr(entry, field.name))
        for field in fields(entry)
        if field.name not in left_out
    }


def _spelled(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _file(file: PlannedFile) -> dict[str, str]:
    return _fields(file, "path", "interface") | {"interface": "\n".join(file.interface)}


def _component(part: Component) -> dict[str, str]:
    quotes = "\n".join(map(_cited, part.citations))
    return _fields(part, "id", "citations") | {"citations": quotes}


def _cited(citation: PaperCitation) -> str:
    page = f"page {citation.page}" if citation.page else ""
    return f"“{citation.quote}” {citation.place} {page}".rstrip()


def _quantity_name(quantity: Quantity) -> str:
    return f"{quantity.name} ({quantity.component})" if quantity.component else quantity.name


def _quantity(quantity: Quantity) -> dict[str, str]:
    quote = _cited(quantity.citation) if quantity.citation else ""
    return _fields(quantity, "name", "component", "citation") | {"citation": quote}


def _order_change(old: CodePlan, new: CodePlan) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    orders = old.implementation_strategy.order, new.implementation_strategy.order
    both = set(orders[0]) & set(orders[1])
    before, after = (tuple(path for path in order if path in both) for order in orders)
    return None if before == after else (before, after)


# ---- for people


def _told(what: str, entries: Entries) -> Iterator[str]:
    yield from (f"+ {what} {_short(name)}" for name in entries.added)
    yield from (f"- {what} {_short(name)}" for name in entries.removed)
    for change in entries.changed:
        yield from _told_fields(f"{what} {_short(change.name)}: ", change.fields)


def _told_fields(whose: str, changes: Iterable[FieldChange]) -> Iterator[str]:
    for change in changes:
        yield f"~ {whose}{change.name}"
        yield f"    was: {_short(change.before) or '(nothing)'}"
        yield f"    now: {_short(change.after) or '(nothing)'}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MOST else line[: _MOST - 1] + "…"
