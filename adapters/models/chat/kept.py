"""Answers kept on disk, so that a call that was answered and not yet recorded is not paid twice."""

import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from uuid import uuid4

from adapters.documents.sealed import SealError, seal, unseal
from adapters.models.chat.characters import mended
from adapters.models.chat.port import ChatAnswer, ChatRequest
from state.values.ids import canonical_json, sha256_hex


@dataclass(frozen=True, slots=True)
class KeptAnswers:
    """Answers in `folder` by model and request; only what was validated belongs here.

    A file that is damaged, or of another version, is as good as absent. One that cannot be written
    is done without: what was answered is worth more than its copy.
    """

    folder: Path

    def get(self, model: str, request: ChatRequest) -> ChatAnswer | None:
        """Return the answer that was kept for this very request, if there is one."""
        try:
            found: object = json.loads(unseal(self._path(model, request).read_bytes()))
            return ChatAnswer(**found) if isinstance(found, dict) else None
        except (OSError, SealError, ValueError, TypeError):
            return None

    def put(self, model: str, request: ChatRequest, answer: ChatAnswer) -> None:
        """Keep `answer`, whole or not at all."""
        path = self._path(model, request)
        partial = path.with_name(f"{path.name}.{uuid4().hex}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_bytes(seal(canonical_json(asdict(answer)).encode()))
            partial.replace(path)
        except OSError:
            with suppress(OSError):
                partial.unlink()

    def _path(self, model: str, request: ChatRequest) -> Path:
        spelled = canonical_json(["chat-answer/1", model, asdict(request)])
        key = sha256_hex(mended(spelled))
        return self.folder / key[:2] / key
