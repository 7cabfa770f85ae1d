"""Facts of events as typed columns: what the views ask about is read from each body only once.

Reading JSON takes ten times as long as reading a column, and every question would read it again. So
each event is taken in with the keys of its body that are named here; the body stays the truth.
"""

import json
from typing import Any

_SPEND = dict.fromkeys(
    (
        "searches", "pages", "model_calls", "input_tokens", "cached_tokens", "output_tokens",
        "cost_micro_usd",
    ),
    "BIGINT",
)  # fmt: skip


def _texts(*names: str) -> dict[str, str]:
    return dict.fromkeys(names, "VARCHAR")


# Keys as in the bodies, with their SQL types; a list has the type of its one member.
STRUCTURE: dict[str, Any] = {
    # the run's life
    **_texts("kind", "task_id", "requested_by", "answer_status", "stop_reason"),
    **_texts("code", "reason", "message"),
    "attempt": "INTEGER",
    "retry_of": _texts("run_id"),
    "limits": dict.fromkeys(
        ("searches", "pages", "model_calls", "tokens", "cost_micro_usd"), "BIGINT"
    ),
    # effects
    **_texts("stage", "verb", "input_hash", "reused_from", "model", "prompt"),
    "round": "INTEGER",
    "duration_ms": "BIGINT",
    "reserve": _SPEND,
    "usage": _SPEND,
    # reviews
    **_texts("interaction_id", "plan_hash", "action", "by", "channel"),
    "version": "INTEGER",
    # notifications
    "notify": ["VARCHAR"],
    "about": "BIGINT",
    "http_status": "INTEGER",
    "gives_up": "BOOLEAN",
    # the workspace
    **_texts("objective", "profile", "scope"),
    "request": {
        "search_providers": ["VARCHAR"],
        **_texts("source_type", "source", "workspace", "model"),
    },
    **_texts("artifact_id", "role", "name", "locator", "content_hash", "media_type"),
    "size": "BIGINT",
    "rendition": {"characters": "BIGINT", "extractor": "VARCHAR"},
    # the method
    "queries": [_texts("query", "subquestion_id")],
    "locators": ["VARCHAR"],
    "omitted": ["VARCHAR"],
    **_texts("evidence_id", "subquestion_id", "quote_hash"),
    "quote": {
        **_texts("source_id", "text_hash"),
        "start": "BIGINT",
        "end": "BIGINT",
        "page": "INTEGER",
        "paragraph": "INTEGER",
    },
    "rows": [{**_texts("subquestion_id", "coverage", "gap"), "evidence_ids": ["VARCHAR"]}],
    "new_evidence": "INTEGER",
    **_texts("claim_id", "section", "text_hash", "verdict", "claim_status", "method"),
    "evidence_ids": ["VARCHAR"],
    # Paper2Code
    **_texts("title", "origin", "outcome", "path", "level"),
    "paths_planned": ["VARCHAR"],
    **dict.fromkeys(("citations", "located", "ambiguities"), "INTEGER"),
    **dict.fromkeys(("commands", "executed", "passed", "failed", "skipped"), "INTEGER"),
    "tampered": ["VARCHAR"],
}


def facts_type() -> str:
    """Return the SQL type of the column `facts`."""
    return _sql_type(STRUCTURE)


def extraction(body: str) -> str:
    """Return the SQL expression that reads the facts from `body`, an expression for JSON text.

    What is no JSON has none: it is for `ledger verify` to find.
    """
    structure = json.dumps(STRUCTURE).replace("'", "''")
    return f"CASE WHEN json_valid({body}) THEN json_transform({body}, '{structure}') END"


def _sql_type(structure: Any) -> str:
    if isinstance(structure, dict):
        fields = (f'"{name}" {_sql_type(kind)}' for name, kind in structure.items())
        return f"STRUCT({', '.join(fields)})"
    if isinstance(structure, list):
        return f"{_sql_type(structure[0])}[]"
    return str(structure)
