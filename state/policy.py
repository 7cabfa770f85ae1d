"""Who may research here: a file the owner writes and can revoke, checked before every dispatch.

Without a file everybody who can write the data folder may: they own it. The policy binds what a
request asked for when it was first allowed: a changed request needs a new run id.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

from state.durable import create_private_folder, replace_file
from state.values.errors import ObstructedError


class Asked(Protocol):
    """A request of any kind."""

    @property
    def principal(self) -> str:
        """Return who asks."""
        ...


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """What the file says: `principals` empty means everybody."""

    enabled: bool = True
    principals: tuple[str, ...] = ()


class Policy:
    """The policy of one data folder, read anew at every check so that revoking works at once."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> PolicyFile:
        """Return the policy; raises `ObstructedError` when the file says nothing that counts."""
        try:
            text = self._path.read_text(encoding="utf-8")
            return _parse(json.loads(text))
        except FileNotFoundError:
            return PolicyFile()
        except (OSError, ValueError, TypeError, RecursionError) as error:
            raise ObstructedError(
                f"the policy {self._path} is not readable ({error}), so nothing is allowed; "
                "write it anew with 'assay policy set'",
                code="PERMISSION_DENIED",
            ) from error

    def write(self, policy: PolicyFile) -> None:
        """Make `policy` the one that counts from now on."""
        create_private_folder(self._path.parent)
        replace_file(self._path, (json.dumps(asdict(policy), indent=2) + "\n").encode())

    def authorise(self, request: Asked) -> None:
        """Raise `ObstructedError` (PERMISSION_DENIED) unless the policy allows this request now."""
        policy = self.read()
        if not policy.enabled:
            raise ObstructedError(
                "research is switched off by policy; 'assay policy set --enable' allows it again",
                code="PERMISSION_DENIED",
            )
        if policy.principals and request.principal not in policy.principals:
            raise ObstructedError(
                f"{request.principal!r} is not among the principals of the policy: "
                f"{', '.join(policy.principals)}",
                code="PERMISSION_DENIED",
            )


def _parse(fields: object) -> PolicyFile:
    if not isinstance(fields, dict) or set(fields) != {"enabled", "principals"}:
        raise ValueError("it holds 'enabled' and 'principals', and nothing else")
    enabled, principals = fields["enabled"], fields["principals"]
    if not isinstance(enabled, bool):
        raise TypeError("'enabled' is true or false")
    if not isinstance(principals, list) or not all(isinstance(name, str) for name in principals):
        raise TypeError("'principals' is a list of names")
    return PolicyFile(enabled, tuple(principals))
