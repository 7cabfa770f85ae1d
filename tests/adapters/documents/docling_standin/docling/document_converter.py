"""A converter whose documents say how they were read, or that ends as the file's words say."""

import os
from dataclasses import dataclass, field
from enum import Enum
from importlib import import_module
from types import SimpleNamespace
from typing import Any

if os.environ.get("HF_HUB_OFFLINE") != "1":
    raise ImportError("models could be downloaded")
STATUS = import_module("docling.datamodel.base_models").ConversionStatus


class ContentLayer(Enum):
    BODY = "body"
    FURNITURE = "furniture"


@dataclass
class PdfFormatOption:
    pipeline_options: Any


@dataclass
class Document:
    texts: list[str]
    body: Any = field(default_factory=lambda: SimpleNamespace(content_layer=ContentLayer.BODY))
    pages: dict[int, None] = field(default_factory=lambda: {1: None})

    def iterate_items(self, **_: object) -> Any:
        for text in self.texts:
            label, provenance = SimpleNamespace(value="text"), [SimpleNamespace(page_no=1)]
            yield (
                SimpleNamespace(
                    text=text,
                    label=label,
                    prov=provenance,
                    parent=None,
                    content_layer=ContentLayer.BODY,
                ),
                1,
            )


class DocumentConverter:
    def __init__(self, allowed_formats: Any, format_options: Any) -> None:
        self.options = format_options or {}

    def initialize_pipeline(self, format_: object) -> None:
        if os.environ.get("DOCLING_ARTIFACTS_PATH") == "/nowhere":
            raise FileNotFoundError("model.safetensors is not in /nowhere")

    def convert(self, source: Any, *, raises_on_error: bool) -> Any:
        data = source.stream.read()
        if b"crash" in data:
            os._exit(3)
        if b"raise" in data:
            raise RuntimeError("the layout model gave no boxes")
        status, errors = STATUS.SUCCESS, []
        if b"fail" in data:
            status = STATUS.FAILURE
            errors = [SimpleNamespace(error_message="page 1 is odd")]
        if b"half" in data:
            status = STATUS.PARTIAL_SUCCESS
            errors = [SimpleNamespace(error_message="page 2 is odd")]
        ocr = [option.pipeline_options.do_ocr for option in self.options.values()]
        texts = [] if b"nothing" in data else [f"{source.name} read by the stand-in, OCR: {ocr}"]
        return SimpleNamespace(status=status, errors=errors, document=Document(texts))
