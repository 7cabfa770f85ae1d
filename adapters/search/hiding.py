"""Keeps a key out of whatever is told: errors, their causes, warnings and hits."""

from dataclasses import dataclass, replace
from urllib.parse import quote

from adapters.search.port import Hit
from adapters.search.tidying import clean_text
from state.values.redaction import REDACTED, redact

_MAX_QUOTED = 200


@dataclass(frozen=True, slots=True, repr=False)
class Secret:
    """A key that was sent to a provider, which may send it back; '' when none was."""

    key: str

    def hide(self, text: str) -> str:
        """Return `text` with the key, as it is or %-encoded, replaced by `[REDACTED]`."""
        if self.key:
            for spelled in (self.key, quote(self.key, safe="")):
                text = text.replace(spelled, REDACTED)
        return text

    def quote(self, text: str) -> str:
        """Return what a provider said as it may be told: short, clean, without any secret."""
        return clean_text(redact(self.hide(text)), most=_MAX_QUOTED)

    def hide_in(self, hit: Hit) -> Hit:
        """Return `hit` without the key; one whose address holds it comes back without address."""
        if not self.key:
            return hit
        return replace(
            hit,
            locator="" if self._is_in(hit.locator) else hit.locator,
            title=None if hit.title is None else self.hide(hit.title),
            snippet=self.hide(hit.snippet),
            ids=tuple(each for each in hit.ids if not self._is_in(each)),
        )

    def cause(self, error: Exception) -> Exception | None:
        """Return `error`, or None when it holds the key: a cause is printed with its effect."""
        return None if self._is_in(str(error)) else error

    def _is_in(self, text: str) -> bool:
        return self.hide(text) != text
