"""The parts of a plan that follow from a paper's formulas and worked examples, without a model."""

from collections.abc import Iterator, Mapping, Sequence

from adapters.models.coder import Finding
from adapters.models.coding.drafting import Draft, defined_name, is_code
from adapters.models.coding.exemplified import numbers_of
from adapters.models.coding.forms import ComponentForm, ComponentsForm, FilesForm
from adapters.models.coding.noting import stated_numbers
from adapters.models.extractive.terms import stems
from state.values.code_plan import PlannedFile

_MOST_EXAMPLES = 6  # of one part: more would crowd out the formulas
_MOST_NAMED = 3


def parts_by_rule(
    draft: Draft, form: FilesForm, findings: Sequence[Finding], examples: Sequence[Finding]
) -> ComponentsForm | None:
    """Return a part for each source file, right when it gives what the paper's examples say.

    Its findings are numbered as `(*findings, *examples)`, from f1. None when a source has no
    function that computes a formula among the findings, or no example belongs to it: then it takes
    judgement to say what must hold of it.
    """
    settings = {number for each in findings if each.kind for number in numbers_of(each.value)}
    numbered = {f"f{number}": each for number, each in enumerate((*findings, *examples), 1)}
    formulas = {
        name: key
        for each in form.functions
        if (key := each.note.strip().casefold()) in numbered
        and (name := defined_name(each.signature.strip("`")))
    }
    sources = [each for each in draft.files if is_code(each)]
    cited = {each.path: list(_formulas_of(each, formulas)) for each in sources}
    if not all(cited.values()):
        return None
    of_file: dict[str, list[str]] = {each.path: [] for each in sources}
    for number, example in enumerate(examples, len(findings) + 1):
        if settings.issuperset(stated_numbers(example.citation.quote)):
            continue  # it says under which settings, and not what comes out
        path = _nearest(example, sources, cited, numbered)
        if len(of_file[path]) < _MOST_EXAMPLES:
            of_file[path].append(f"f{number}")
    if not all(of_file.values()):
        return None
    parts = [_part(each, cited[each.path], of_file[each.path], numbered) for each in sources]
    return ComponentsForm(components=parts)


def _formulas_of(file: PlannedFile, formulas: Mapping[str, str]) -> Iterator[str]:
    names = (defined_name(line) for line in file.interface)
    yield from dict.fromkeys(formulas[name] for name in names if name in formulas)


def _nearest(
    example: Finding,
    sources: Sequence[PlannedFile],
    cited: Mapping[str, Sequence[str]],
    numbered: Mapping[str, Finding],
) -> str:
    """Return the file whose functions and formulas share the most words with the example."""
    words = stems(f"{example.citation.place} {example.citation.quote}")

    def common(file: PlannedFile) -> int:
        said = [numbered[key].statement for key in cited[file.path]]
        names = [defined_name(line).replace("_", " ") for line in file.interface]
        return len(words & stems(" ".join([*said, *names])))

    return max(sources, key=common).path


def _part(
    file: PlannedFile,
    formulas: Sequence[str],
    examples: Sequence[str],
    numbered: Mapping[str, Finding],
) -> ComponentForm:
    places = dict.fromkeys(numbered[key].citation.place for key in formulas)
    named = ", ".join([place for place in places if place][:_MOST_NAMED])
    shown = [" ".join(numbered[key].citation.quote.split()) for key in examples]
    return ComponentForm(
        name=named or file.path,
        description=" ".join(numbered[key].statement for key in formulas),
        criterion=f"It gives what the source states: {' '.join(shown)}",
        files=[file.path],
        findings=[*formulas, *examples],
    )
