"""Options, under docling's names."""

from dataclasses import dataclass


@dataclass
class PdfPipelineOptions:
    do_ocr: bool = True
