"""Files that point to other files and to hosts in every way their formats know."""

from collections.abc import Callable

from tests.adapters.documents.docx_makers import (
    CONTENT_TYPES,
    NAMESPACES,
    document,
    docx,
    link,
    packed,
    para,
    parts,
    relations,
    run,
)
from tests.adapters.documents.pdf_maker import Pdf, column, prose

WORDS = "Fine text that stands beside it."


def references(url: str, path: str) -> dict[str, bytes]:
    """Return files, by name, that all point to `url` and to the local file at `path`."""
    made = {
        **{f"{name}.html": page.encode() for name, page in _pages(url, path).items()},
        **{f"{name}.docx": data for name, data in _word_files(url, path).items()},
        **{f"{name}.pdf": make(url, path) for name, make in _PDF.items()},
        **{name: text.encode() for name, text in _texts(url, path).items()},
    }
    return {name: data for name, data in sorted(made.items()) if data}


def _pages(url: str, path: str) -> dict[str, str]:
    file = f"file://{path}"
    body = f"<p>{WORDS}</p>"
    many = "".join(
        f"<img src='{target}' srcset='{target} 2x'><iframe src='{target}'></iframe>"
        f"<object data='{target}'></object><embed src='{target}'><script src='{target}'></script>"
        f"<link rel=stylesheet href='{target}'><link rel=preload href='{target}'>"
        f"<video src='{target}' poster='{target}'></video><audio src='{target}'></audio>"
        f"<a href='{target}' ping='{target}'>link</a><body background='{target}'>"
        f"<form action='{target}'><input type=image src='{target}'></form>"
        f"<svg><image href='{target}'/><use xlink:href='{target}'/></svg>"
        f"<math href='{target}'><mi>x</mi></math>"
        for target in (url, file, f"//{url.partition('//')[2]}", path, f"\\\\{path}")
    )
    return {
        "elements": many + body,
        "base": f"<base href='{url}'><img src=a.png><link rel=stylesheet href=a.css>{body}",
        "style": f"<style>@import '{url}'; @import url({file}); p {{background:url({url})}}"
        f"@font-face {{font-family:x; src:url({url})}}</style><p style='content:url({url})'>"
        f"{WORDS}</p>",
        "refresh": f"<meta http-equiv=refresh content='0;url={url}'>{body}",
        "entity": f"<!DOCTYPE html [<!ENTITY x SYSTEM '{file}'><!ENTITY % y SYSTEM '{url}'> %y;]>"
        f"<html><body><p>{WORDS} &x;</p></body></html>",
        "doctype": f"<!DOCTYPE html SYSTEM '{url}'><html><body>{body}</body></html>",
        "public": f"<!DOCTYPE html PUBLIC '-//X//Y' '{file}'><html><body>{body}</body></html>",
        "xhtml": f"<?xml version='1.0'?><?xml-stylesheet href='{url}' type='text/xsl'?>"
        f"<!DOCTYPE html [<!ENTITY x SYSTEM '{file}'>]>"
        f"<html xmlns='http://www.w3.org/1999/xhtml'><body>{body}<p>&x;</p></body></html>",
        "xinclude": "<html xmlns:xi='http://www.w3.org/2001/XInclude'><body>"
        f"<xi:include href='{file}' parse='text'/><xi:include href='{url}'/>{body}</body></html>",
        "script": f"<script>fetch('{url}'); import('{url}')</script>{body}",
        "frames": f"<frameset><frame src='{url}'><frame src='{file}'></frameset>{body}",
    }


def _word_files(url: str, path: str) -> dict[str, bytes]:
    file = f"file://{path}"
    body = para(WORDS)
    picture = (
        "<w:p><w:r><w:drawing><a:graphic><a:graphicData><pic:pic><pic:blipFill>"
        '<a:blip r:link="r9"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></w:drawing>'
        "</w:r></w:p>"
    )
    fields = "".join(
        f'<w:p><w:fldSimple w:instr="{kind}">{run("shown")}</w:fldSimple></w:p>'
        for kind in (
            f"INCLUDETEXT {path}",
            f"INCLUDEPICTURE {url}",
            f"DDEAUTO cmd {path}",
            f"LINK Word.Document {path}",
            f"RD {path}",
            f"HYPERLINK {url}",
        )
    )
    entity = document(para(f"{WORDS} &amp;x;")).replace("&amp;", "&")
    return {
        "picture": docx(body + picture, link("r9", "image", url, outside=True)),
        "picture-file": docx(body + picture, link("r9", "image", file, outside=True)),
        "picture-path": docx(body + picture, link("r9", "image", path)),
        "picture-above": docx(body + picture, link("r9", "image", f"../../../..{path}")),
        "template": docx(body, link("r9", "attachedTemplate", url, outside=True), settings=""),
        "chunk": docx(
            body + '<w:altChunk r:id="r9"/><w:altChunk r:id="r8"/>',
            link("r9", "aFChunk", url, outside=True),
            link("r8", "aFChunk", path),
        ),
        "object": docx(
            body + '<w:p><w:r><w:object><o:OLEObject r:id="r9"/></w:object></w:r></w:p>',
            link("r9", "oleObject", rf"\\127.0.0.1\share{path}", outside=True),
        ),
        "subdocument": docx(body + '<w:subDoc r:id="r9"/>', link("r9", "subDocument", file)),
        "fields": docx(body + fields),
        "styles": docx(body, link("r7", "styles", path), link("r6", "footnotes", url)),
        "entity": packed(
            {
                **parts(body),
                "word/document.xml": f"<!DOCTYPE x [<!ENTITY x SYSTEM '{file}'>]>{entity}",
            }
        ),
        "entity-parameter": packed(
            {
                **parts(body),
                "word/document.xml": f"<!DOCTYPE x [<!ENTITY % y SYSTEM '{url}'> %y;]>"
                f"{document(body)}",
            }
        ),
        "entity-styles": packed(
            {
                **parts(body, styles=""),
                "word/styles.xml": f"<!DOCTYPE x SYSTEM '{url}'><w:styles {NAMESPACES}/>",
            }
        ),
        "include": docx(
            body + f'<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="{file}"/>'
        ),
        "main-part": packed(
            {
                "[Content_Types].xml": CONTENT_TYPES,
                "_rels/.rels": relations(link("r1", "officeDocument", path)),
            }
        ),
    }


def _pdf_actions(url: str, path: str) -> bytes:
    pdf = Pdf()
    actions = (
        f"<< /S /URI /URI ({url}) >>",
        f"<< /S /GoToR /F ({path}) /D [0 /Fit] >>",
        f"<< /S /GoToE /F << /Type /Filespec /FS /URL /F ({url}) >> /D [0 /Fit] >>",
        f"<< /S /Launch /F ({path}) /NewWindow true >>",
        f"<< /S /SubmitForm /F << /FS /URL /F ({url}) >> >>",
        f"<< /S /ImportData /F ({path}) >>",
        f"<< /S /JavaScript /JS (app.launchURL\\('{url}'\\); this.getURL\\('{url}'\\)) >>",
        f"<< /S /Rendition /R << /S /MR /C << /S /MCD /D ({path}) >> >> >>",
    )
    numbers = [
        pdf.add(f"<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /A {action} >>")
        for action in actions
    ]
    pdf.catalog = f"/OpenAction {actions[0]} /AA << /WC {actions[6]} >> /URI << /Base ({url}) >>"
    notes = " ".join(f"{number} 0 R" for number in numbers)
    pdf.page(column([WORDS, *prose(3)]), extra=f"/Annots [{notes}] /AA << /O {actions[6]} >>")
    return pdf.data()


def _pdf_streams(url: str, path: str) -> bytes:
    """Return a file whose streams lie in other files (ISO 32000-1, 7.3.8.2)."""
    pdf = Pdf()
    outside = [
        pdf.stream(b"", f"/F {place} /FFilter /FlateDecode")
        for place in (f"({path})", f"<< /FS /URL /F ({url}) >>", f"<< /F ({path}) /UF ({path}) >>")
    ]
    picture = pdf.stream(
        b"", f"/Type /XObject /Subtype /Image /Width 9 /Height 9 /BitsPerComponent 8 "
        f"/ColorSpace /DeviceGray /F ({path}) /OPI << /1.3 << /F ({path}) >> >> "
        f"/Alternates [<< /Image {outside[0]} 0 R >>]",
    )  # fmt: skip
    reference = pdf.stream(
        b"", f"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Ref << /F ({path}) /Page 0 >>"
    )
    pdf.fonts["F3"] = (
        "<< /Type /Font /Subtype /TrueType /BaseFont /Odd /FontDescriptor << /Type /FontDescriptor "
        f"/FontName /Odd /Flags 4 /FontFile2 {outside[0]} 0 R >> /ToUnicode {outside[1]} 0 R >>"
    )
    pdf.page(
        column([WORDS, *prose(3)]) + "BT /F3 9 Tf (x) Tj ET /I Do /R Do",
        xobjects=f"/I {picture} 0 R /R {reference} 0 R",
        extra=f"/Metadata {outside[2]} 0 R",
    )
    return pdf.data()


def _pdf_forms(url: str, path: str) -> bytes:
    pdf = Pdf()
    form = pdf.stream(
        f"<!DOCTYPE x [<!ENTITY y SYSTEM 'file://{path}'>]>"
        f"<xdp:xdp><a href='{url}'>&y;</a></xdp:xdp>"
    )
    about = pdf.stream(
        f"<!DOCTYPE x [<!ENTITY y SYSTEM '{url}'>]><x:xmpmeta xmlns:x='adobe:ns:meta/'>&y;"
        "</x:xmpmeta>",
        "/Type /Metadata /Subtype /XML",
    )
    pdf.catalog = (
        f"/AcroForm << /XFA {form} 0 R /Fields [] >> /Metadata {about} 0 R "
        f"/Names << /EmbeddedFiles << /Names [(a) << /Type /Filespec /F ({path}) >>] >> >> "
        f"/Collection << /D (a) >>"
    )
    pdf.page(column([WORDS, *prose(3)]))
    return pdf.data()


_PDF: dict[str, Callable[[str, str], bytes]] = {
    "actions": _pdf_actions,
    "streams": _pdf_streams,
    "forms": _pdf_forms,
}


def _texts(url: str, path: str) -> dict[str, str]:
    return {
        "links.md": f"# {WORDS}\n\n![a]({url})\n![b](file://{path})\n<{url}>\n[c]: {url}\n\n"
        f"<img src='{url}'>\n\n{{% include '{path}' %}}\n\n!include {path}\n",
        "include.rst": f"{WORDS}\n\n.. include:: {path}\n\n.. raw:: html\n   :url: {url}\n\n"
        f".. csv-table::\n   :file: {path}\n\n.. literalinclude:: {path}\n",
        "links.txt": f"{WORDS}\n{url}\nfile://{path}\n@{path}\n$(cat {path})\n",
        "drawing.svg": f"<svg xmlns='http://www.w3.org/2000/svg'><image href='{url}'/>"
        f"<text>{WORDS}</text></svg>",
        "data.xml": f"<!DOCTYPE x [<!ENTITY y SYSTEM 'file://{path}'>]><x>{WORDS} &y;</x>",
        "path.txt": f"{path}\n",
    }
