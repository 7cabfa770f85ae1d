"""What drawings hold: text boxes, which are read, and pictures and the like, which are counted."""

from collections import Counter
from collections.abc import Iterator

from lxml import etree

from adapters.documents.docx_reader.xml import A_NS, MC_NS, R_NS, V_NS, w

_TEXT_BOX = w("txbxContent")
_ALTERNATIVES = f"{{{MC_NS}}}AlternateContent"
_CHOICE = f"{{{MC_NS}}}Choice"
_FALLBACK = f"{{{MC_NS}}}Fallback"
_REQUIRES = "Requires"
# Extensions of drawings whose text this reader finds; of others the fallback is better.
_UNDERSTOOD = frozenset("wps wpg wpc wp14 w14 w15 w16 w16se w16cex a14 pic14 v o".split())
_PICTURE = "{http://schemas.openxmlformats.org/drawingml/2006/picture}pic"
_BLIP = f"{{{A_NS}}}blip"
_IMAGE = f"{{{V_NS}}}imagedata"
_TEXT_PATH = f"{{{V_NS}}}textpath"
_OBJECT = w("object")
_OLE = "{urn:schemas-microsoft-com:office:office}OLEObject"
_COUNTED = {
    "{http://schemas.openxmlformats.org/drawingml/2006/chart}chart": "chart",
    "{http://schemas.microsoft.com/office/drawing/2014/chartex}chart": "chart",
    "{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds": "diagram",
    "{http://schemas.openxmlformats.org/drawingml/2006/lockedCanvas}lockedCanvas": "diagram",
}


def chosen(alternatives: etree._Element) -> etree._Element | None:
    """Return the branch of an `mc:AlternateContent` that is to be read, or None."""
    fallback = None
    for branch in alternatives:
        if branch.tag == _CHOICE and _UNDERSTOOD.issuperset(branch.get(_REQUIRES, "").split()):
            return branch
        if branch.tag == _FALLBACK:
            fallback = branch
    if fallback is not None:
        return fallback
    return next(alternatives.iterchildren(_CHOICE), None)


def text_boxes(
    drawing: etree._Element, dropped: Counter[str], outside: frozenset[str]
) -> Iterator[etree._Element]:
    """Yield the contents of a drawing's text boxes in order, and count what is not text in it.

    Pictures whose link is one of `outside` (ids) are not counted, since their links are.
    """
    waiting = [drawing]
    is_object = drawing.tag == _OBJECT
    while waiting:
        element = waiting.pop()
        tag = element.tag
        if tag == _TEXT_BOX:
            yield element
            continue
        if tag == _ALTERNATIVES:
            branch = chosen(element)
            if branch is not None:
                waiting.append(branch)
            continue
        if tag == _OLE:
            program = element.get("ProgID", "").casefold()
            dropped["foreign equation" if "equation" in program else "object"] += 1
        elif kind := _COUNTED.get(tag):
            dropped[kind] += 1
        elif tag == _TEXT_PATH and element.get("string", "").strip():
            dropped["drawn text"] += 1
        elif (
            tag in (_PICTURE, _IMAGE)
            and not is_object
            and not outside.intersection(_links(element))
        ):
            dropped["picture"] += 1
        waiting.extend(reversed(element))


def _links(picture: etree._Element) -> Iterator[str]:
    for element in picture.iter(_BLIP, _IMAGE):
        for name, target in element.attrib.items():
            if name.startswith(f"{{{R_NS}}}"):
                yield target
