"""Formats, states and streams, under docling's names."""

from dataclasses import dataclass
from enum import Enum
from io import BytesIO


class InputFormat(str, Enum):  # noqa: UP042 - as docling has it
    PDF = "pdf"
    PPTX = "pptx"
    XLSX = "xlsx"


class ConversionStatus(str, Enum):  # noqa: UP042 - as docling has it
    SUCCESS = "success"
    PARTIAL_SUCCESS = "partial_success"
    FAILURE = "failure"


@dataclass
class DocumentStream:
    name: str
    stream: BytesIO
