"""Whether what was heard is an answer."""

from dataclasses import dataclass

from adapters.models.chat.accounts import truncation
from adapters.models.chat.characters import mended
from adapters.models.chat.errors import FILTERED, LOOP, OUTPUT, TRUNCATED
from adapters.models.chat.heard import Heard
from adapters.models.chat.lenient import without_thoughts
from adapters.models.chat.port import ChatRequest
from state.values.redaction import redact

_SHOWN_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Objection:
    """Why it is none."""

    code: str
    message: str


def answer_in(heard: Heard) -> str:
    """Return the text without thoughts; '' when that is all."""
    return without_thoughts(mended(heard.text))


def object_to(request: ChatRequest, heard: Heard) -> Objection | None:
    """Return why what was heard is no answer to `request`, or None when it is one."""
    if lost := truncation(request, heard):
        return Objection(
            TRUNCATED,
            f"the model {lost}: its server cut the rest off; give the server a longer context, or "
            "set the one it has",
        )
    if heard.is_looping:
        return Objection(LOOP, "the answer repeated itself and was ended")
    if heard.refusal:
        return Objection(OUTPUT, f"the model refused: {redact(heard.refusal)[:_SHOWN_CHARACTERS]}")
    if heard.finish == "filter":
        return Objection(FILTERED, "the provider's filter stopped the answer")
    if answer_in(heard):
        return None
    if heard.finish == "length" or heard.is_too_long:
        spent = f"spent all of {request.max_output_tokens} tokens before it answered"
        return Objection(OUTPUT, f"the model {spent}")
    return Objection(OUTPUT, "the model gave no text")
