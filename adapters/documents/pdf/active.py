"""What a PDF holds besides its pages, and is left out: scripts, actions, attachments, comments."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

from pypdf import PageObject, PdfReader
from pypdf.generic import ArrayObject, DictionaryObject

_MAX_ANNOTATIONS = 500
_MAX_NAMES = 1_000
_MAX_DEPTH = 6
_ACTIONS = {
    "/JavaScript": "script",
    "/Launch": "action that starts a program",
    "/SubmitForm": "action that sends data",
    "/ImportData": "action that reads a file",
    "/GoToE": "action that opens an attachment",
    "/GoToR": "action that opens another file",
    "/Rendition": "sound or film",
}
_ANNOTATIONS = {
    "/Text": "comment",
    "/FreeText": "comment",
    "/FileAttachment": "attached file",
    "/Widget": "form field",
    "/Screen": "sound or film",
    "/Movie": "sound or film",
    "/Sound": "sound or film",
    "/RichMedia": "sound or film",
    "/3D": "3D model",
}
_PLURALS = {
    "action that starts a program": "actions that start programs",
    "action that sends data": "actions that send data",
    "action that reads a file": "actions that read files",
    "action that opens an attachment": "actions that open attachments",
    "action that opens another file": "actions that open other files",
    "sound or film": "sounds or films",
    "comment": "comments",
    "attached file": "attached files",
    "form field": "form fields",
    "script": "scripts",
    "3D model": "3D models",
    "form in XML": "forms in XML",
    "picture": "pictures",
}


def left_out(reader: PdfReader | None, pages: int, pictures: int) -> tuple[str, ...]:
    """Return in short phrases what is on the first `pages` or beside them, but not in the text.

    None of it is run or opened. Damaged parts are passed over.
    """
    counts: Counter[str] = Counter()
    if reader is not None:
        for look in (_of_catalog(reader), _of_pages(islice(reader.pages, pages))):
            counts.update(_until_damage(look))
    if pictures:
        counts["picture"] = pictures
    return tuple(
        f"{count} {what if count == 1 else _PLURALS[what]}" for what, count in counts.items()
    )


def _until_damage(look: Iterator[str]) -> Iterator[str]:
    try:
        yield from look
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - a damaged part raises anything; the text is read all the same
        return


def _of_catalog(reader: PdfReader) -> Iterator[str]:
    catalog = reader.root_object
    yield from _actions(catalog.get("/OpenAction"))
    yield from _triggers(catalog)
    names = _as_dictionary(catalog.get("/Names"))
    yield from ("script" for _ in _leaves(names.get("/JavaScript"), 0))
    yield from ("attached file" for _ in _leaves(names.get("/EmbeddedFiles"), 0))
    if "/XFA" in _as_dictionary(catalog.get("/AcroForm")):
        yield "form in XML"


def _of_pages(pages: Iterable[PageObject]) -> Iterator[str]:
    for page in pages:
        yield from _triggers(page)
        annotations = _resolve(page.get("/Annots"))
        if isinstance(annotations, ArrayObject):
            for annotation in annotations[:_MAX_ANNOTATIONS]:
                yield from _until_damage(_of_annotation(_as_dictionary(annotation)))


def _of_annotation(annotation: DictionaryObject) -> Iterator[str]:
    what = _ANNOTATIONS.get(str(annotation.get("/Subtype")))
    if what is not None:
        yield what
    yield from _actions(annotation.get("/A"))
    yield from _triggers(annotation)


def _triggers(holder: DictionaryObject) -> Iterator[str]:
    for action in _as_dictionary(holder.get("/AA")).values():
        yield from _actions(action)


def _actions(action: object, depth: int = 0) -> Iterator[str]:
    found = _resolve(action)
    if not isinstance(found, DictionaryObject) or depth > _MAX_DEPTH:
        return
    what = _ACTIONS.get(str(found.get("/S")))
    if what is not None:
        yield what
    following = _resolve(found.get("/Next"))
    for each in following if isinstance(following, ArrayObject) else [following]:
        yield from _actions(each, depth + 1)


def _leaves(tree: object, depth: int) -> Iterator[object]:
    """Yield the values of a name tree (ISO 32000-2 §7.9.6), up to a limit."""
    node = _as_dictionary(tree)
    names, kids = _resolve(node.get("/Names")), _resolve(node.get("/Kids"))
    if isinstance(names, ArrayObject):
        yield from names[1 : 2 * _MAX_NAMES : 2]
    if isinstance(kids, ArrayObject) and depth < _MAX_DEPTH:
        for kid in kids[:100]:
            yield from _leaves(kid, depth + 1)


def _resolve(value: object) -> object:
    get = getattr(value, "get_object", None)
    return get() if get is not None else value


def _as_dictionary(value: object) -> DictionaryObject:
    found = _resolve(value)
    return found if isinstance(found, DictionaryObject) else DictionaryObject()
