"""Reads documents with docling, where its package is installed and its models are on the disk.

Only child processes call it. Nothing is downloaded, and no text is recognised from pictures: what
is quoted must be what the file says.
"""

import os
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from typing import Any

from adapters.documents import sniff
from adapters.documents.docling_mapping import map_document
from state.values.blocks import Conversion, Outcome

FUNCTION = "adapters.documents.docling_reader:convert_bytes"
_OFFICE = "application/vnd.openxmlformats-officedocument"
_OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}


@dataclass(frozen=True, slots=True)
class Target:
    """A kind of file as docling calls it, and its media type."""

    format: str
    media_type: str


def target_of(data: bytes, *, name: str, media_type: str) -> Target | None:
    """Return as what docling is to read `data`: PDF, slides or a spreadsheet; None for others."""
    kind = sniff.sniff(data, name=name, media_type=media_type)
    if kind == sniff.PDF:
        return Target("pdf", sniff.PDF)
    if kind != _OFFICE:
        return None
    if b"ppt/presentation" in data:
        return Target("pptx", f"{_OFFICE}.presentationml.presentation")
    return Target("xlsx", f"{_OFFICE}.spreadsheetml.sheet")


def is_installed() -> bool:
    """Tell whether the package `docling` can be imported here."""
    return find_spec("docling") is not None


def convert_bytes(data: bytes, name: str, media_type: str) -> Conversion:
    """Return how docling read `data`; `unsupported` says that it cannot work here at all."""
    target = target_of(data, name=name, media_type=media_type)
    if target is None:
        return Conversion(Outcome.MALFORMED, "This is no kind of file that docling is asked for.")
    try:
        docling = _converter(target.format)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - what is missing or broken there, can be anything
        return Conversion(Outcome.UNSUPPORTED, _not_usable(error))
    stream = import_module("docling.datamodel.base_models").DocumentStream(
        name=f"document.{target.format}", stream=BytesIO(data)
    )
    try:
        result = docling.convert(stream, raises_on_error=False)
        status = result.status.value
        errors = "; ".join(dict.fromkeys(str(each.error_message) for each in result.errors))[:500]
        if status not in ("success", "partial_success"):
            return Conversion(Outcome.MALFORMED, f"Docling could not read it ({errors or status}).")
        document = map_document(result.document, media_type=target.media_type)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - a reader may fail in any way on hostile bytes
        why = f"Docling could not read it ({type(error).__name__}: {error})"
        return Conversion(Outcome.MALFORMED, why[:500])
    if not any(map(str.isalnum, document.text)):
        return Conversion(Outcome.EMPTY, "Docling found no text in it.")
    if status == "partial_success":
        lost = f"Docling read only a part of it ({errors or 'it does not say why'})."
        return Conversion(Outcome.PARTIAL, lost, document)
    return Conversion(Outcome.OK, document=document)


@lru_cache(maxsize=4)
def _converter(format_: str) -> Any:  # Any: of an optional package
    """Return docling's converter for one format, its models loaded."""
    os.environ.update(_OFFLINE)  # read when the libraries are imported, so before
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # a graphics card's addresses burst any limit
    converting = import_module("docling.document_converter")
    formats = import_module("docling.datamodel.base_models").InputFormat
    options = import_module("docling.datamodel.pipeline_options")
    wanted = formats(format_)
    pdf = converting.PdfFormatOption(pipeline_options=options.PdfPipelineOptions(do_ocr=False))
    made = converting.DocumentConverter(
        allowed_formats=[wanted], format_options={wanted: pdf} if format_ == "pdf" else None
    )
    made.initialize_pipeline(wanted)
    return made


def _not_usable(error: Exception) -> str:
    said = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    return (
        f"docling cannot work here ({said}); its models must be on the disk: run "
        "'docling-tools models download', and set DOCLING_ARTIFACTS_PATH if they are not in its "
        "usual place"
    )
