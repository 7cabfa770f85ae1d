"""Reads Word files (.docx, .docm, .dotx): text as a reader sees it, with all changes accepted."""

import re
from collections.abc import Iterable

from lxml import etree

from adapters.documents.docx_reader.body import Walker
from adapters.documents.docx_reader.looks import WHITE, value
from adapters.documents.docx_reader.numbering import Numbering
from adapters.documents.docx_reader.package import Package
from adapters.documents.docx_reader.story import NoteForm, NoteMark, Notes, Story
from adapters.documents.docx_reader.styles import Styles, to_int
from adapters.documents.docx_reader.writer import Writer
from adapters.documents.docx_reader.xml import Forbidden, parse_xml, w
from adapters.documents.reading import Reading, Unreadable, number_blocks
from state.values.blocks import BlockKind, Document, Outcome, Quality

EXTRACTOR = "docx"
VERSION = "1"
MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

_DEFAULT_MAIN = "word/document.xml"
_HARMLESS = ("hyperlink", "attachedTemplate")  # links of which nothing is shown
_NOTES = {"footnote": "footnotes", "endnote": "endnotes"}
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
# What programs and templates leave in the properties of a file that nobody gave a title.
_MEANINGLESS = re.compile(
    r"(?:untitled|unbenannt|sans titre|sin título|no title|title|titel|document|dokument|"
    r"word document|microsoft word document|new document|template|blank|normal)\s*\d*\Z"
    r"|microsoft word\s*-|.*\.(?:docx?|docm|dotx?|rtf|odt|pdf|txt|wpd|tmp)\Z",
    re.IGNORECASE,
)


def read_docx(data: bytes, *, charset: str = "") -> Reading:  # noqa: ARG001 - as all readers
    """Return the text of a Word file, as it prints when all tracked changes are accepted.

    Footnotes and endnotes follow the text, each as `[1] …` where the text has `[1]`; headers and
    footers come last and are not main. Comments, pictures and deletions are counted and left out.
    Text that is set so that nobody sees it is left out and reported. Links are never followed.
    """
    package = Package(data)
    main = _main_part(package)
    root = _required(package, main)
    body = root.find(w("body"))
    if root.tag != w("document") or body is None:
        raise Unreadable(Outcome.MALFORMED, f"The part {main} is not the body of a Word document.")
    story, settings = _story(package, main, root)
    writer = Writer()
    walker = Walker(story, writer, background=_page_color(root, settings))
    try:
        _enter(story, package, main, root)
        walker.blocks(body)
        _write_notes(package, main, walker)
        _write_headers(package, main, walker)
    except RecursionError as error:
        raise Unreadable(Outcome.LIMIT, "The document is nested too deeply to be read.") from error
    return _reading(package, main, story, writer)


def _reading(package: Package, main: str, story: Story, writer: Writer) -> Reading:
    text = writer.text
    dropped = _dropped(package, main, story)
    hidden = ["text that is hidden"] if story.hidden else []
    if (dropped or hidden) and not any(map(str.isalnum, text)):
        raise Unreadable(
            Outcome.EMPTY,
            f"The file holds no text that is shown, only {', '.join((*hidden, *dropped))}.",
        )
    lost = "; ".join(story.lost)
    return Reading(
        Document(
            text=text,
            blocks=number_blocks(text, writer.segments),
            media_type=MEDIA_TYPE,
            extractor=EXTRACTOR,
            extractor_version=f"{VERSION}+lxml-{etree.__version__}",
            title=_title(package, story, writer),
            warnings=tuple(_warnings(package, story, lost)),
            quality=Quality(dropped=dropped, hidden_text=tuple(story.hidden)),
        ),
        lost=f"Not all of the file could be read: {lost}." if lost else "",
    )


# The parts


def _main_part(package: Package) -> str:
    named = package.target("", "officeDocument")
    for name in (named, _DEFAULT_MAIN):
        if name is not None and package.has(name):
            return name
    raise Unreadable(Outcome.MALFORMED, "The file holds no Word document, or has lost it.")


def _required(package: Package, name: str) -> etree._Element:
    data = package.part(name)
    if data is None:
        raise Unreadable(Outcome.MALFORMED, f"The part {name} is missing.")
    return parse_xml(data, name)


def _optional(package: Package, name: str | None, story_lost: list[str]) -> etree._Element | None:
    """Return the root of a part that the text can be read without; a damaged one is named."""
    if name is None:
        return None
    try:
        data = package.part(name)
        return None if data is None else parse_xml(data, name)
    except Forbidden:
        raise
    except Unreadable as error:
        story_lost.append(error.reason.rstrip("."))
        return None


def _story(
    package: Package, main: str, root: etree._Element
) -> tuple[Story, etree._Element | None]:
    lost: list[str] = []

    def part(kind: str) -> etree._Element | None:
        return _optional(package, package.target(main, kind), lost)

    styles = Styles(part("styles"))
    numbering = Numbering(part("numbering"), styles)
    settings = part("settings")
    forms = {kind: _note_form(kind, root, settings) for kind in _NOTES}
    return Story(styles, numbering, Notes(forms), lost=lost), settings


def _note_form(kind: str, root: etree._Element, settings: etree._Element | None) -> NoteForm:
    form = NoteForm("decimal" if kind == "footnote" else "lowerRoman")
    said = [] if settings is None else settings.findall(w(f"{kind}Pr"))
    said += [
        found for section in root.iter(w("sectPr")) for found in section.findall(w(f"{kind}Pr"))
    ]
    for properties in said:
        form.format = value(properties.find(w("numFmt"))) or form.format
        start = to_int(value(properties.find(w("numStart"))))
        form.start = form.start if start is None else start
    return form


def _page_color(root: etree._Element, settings: etree._Element | None) -> str:
    background = root.find(w("background"))
    is_shown = settings is not None and settings.find(w("displayBackgroundShape")) is not None
    if background is None or not is_shown:
        return WHITE
    return str(background.get(w("color"), WHITE)).upper()


def _enter(story: Story, package: Package, part: str, root: etree._Element) -> None:
    story.fields.enter(root)
    story.outside = frozenset(
        relation.id for relation in package.relations(part) if relation.is_external
    )


# What comes after the body


def _write_notes(package: Package, main: str, walker: Walker) -> None:
    story = walker.story
    known: dict[tuple[str, str], etree._Element] = {}
    for kind, relation in _NOTES.items():
        name = package.target(main, relation)
        root = _optional(package, name, story.lost)
        if root is None or name is None:
            continue
        _enter(story, package, name, root)
        for element in root.iterchildren(w(kind)):
            if element.get(w("type"), "normal") == "normal":
                known.setdefault((kind, element.get(w("id"), "")), element)
    marks = list(story.notes.marks)
    for mark in marks:
        element = known.pop((mark.kind, mark.id), None)
        if element is None:
            story.dropped["missing note"] += 1
        else:
            _write_note(walker, mark, element)
    for element in known.values():
        story.dropped["stray note"] += any((t.text or "").strip() for t in element.iter(w("t")))


def _write_note(walker: Walker, mark: NoteMark, element: etree._Element) -> None:
    text = walker.text_of(element)
    walker.writer.add(BlockKind.FOOTNOTE, f"{mark.mark} {text}", heading=mark.heading)


def _write_headers(package: Package, main: str, walker: Walker) -> None:
    """Write each header and footer once, as text that is not main."""
    targets = {relation.id: relation for relation in package.relations(main)}
    walker.main = False
    walker.writer.heading = ""
    for identifier in dict.fromkeys(walker.headers):
        relation = targets.get(identifier)
        if relation is None or relation.is_external:
            continue
        root = _optional(package, relation.target, walker.story.lost)
        if root is not None and any(map(str.isalpha, _letters(root))):
            _enter(walker.story, package, relation.target, root)
            walker.blocks(root)


def _letters(root: etree._Element) -> str:
    return "".join(text.text or "" for text in root.iter(w("t")))


# What is said of the document


def _title(package: Package, story: Story, writer: Writer) -> str | None:
    """Return what is set as the title, else what the properties say, else the first heading."""
    if story.title:
        return story.title
    root = _optional(package, package.target("", "core-properties"), story.lost)
    found = None if root is None else root.find(_TITLE)
    stated = " ".join((found.text or "").split()) if found is not None else ""
    if stated and not _MEANINGLESS.match(stated):
        return stated[:500]
    text = writer.text
    for segment in writer.segments:
        if segment.kind is BlockKind.HEADING and segment.main:
            return " ".join(text[segment.start : segment.end].split())
    return None


def _dropped(package: Package, main: str, story: Story) -> tuple[str, ...]:
    links = [
        relation
        for part in (main, *_linked(package, main))
        for relation in package.relations(part)
        if relation.is_external and relation.kind not in _HARMLESS
    ]
    pictures = sum(relation.kind == "image" for relation in links)
    story.dropped["outside picture"] += pictures
    story.dropped["outside file"] += len(links) - pictures
    return (*story.phrases(), *(["macros"] if _has_macros(package) else []))


def _linked(package: Package, main: str) -> Iterable[str]:
    kinds = ("settings", "footnotes", "endnotes", "header", "footer")
    return dict.fromkeys(
        relation.target
        for relation in package.relations(main)
        if relation.kind in kinds and not relation.is_external
    )


def _has_macros(package: Package) -> bool:
    return any(name.endswith("vbaproject.bin") for name in package.names)


def _warnings(package: Package, story: Story, lost: str) -> Iterable[str]:
    if lost:
        yield lost
    if story.insertions or story.dropped["deletion"]:
        yield "the file holds tracked changes; its text is read as if all were accepted"
    if story.hidden_chars:
        yield f"text that the file hides was left out ({story.hidden_chars} characters)"
    if _has_macros(package):
        yield "the file holds macros, which were not run"
