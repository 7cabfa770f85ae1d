"""A report as JSON, for programs."""

import json
from dataclasses import asdict

from state.values.report import Report

SCHEMA_VERSION = 1


def report_json(report: Report) -> str:
    """Return report.json: the schema version and the content, keys in the order of the fields."""
    content = {**asdict(report), "coverage": report.coverage}
    document = {"schema_version": SCHEMA_VERSION, "content": content}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
