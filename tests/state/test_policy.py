"""The policy: who may research here, read anew at every check, and closed when in doubt."""

import json
from pathlib import Path

import pytest

from state.policy import Policy, PolicyFile
from state.values.errors import ObstructedError
from tests.state.builders import request


@pytest.fixture
def policy(tmp_path: Path) -> Policy:
    return Policy(tmp_path / "home" / "policy.json")


def test_without_a_file_whoever_owns_the_data_may(policy: Policy) -> None:
    policy.authorise(request())


def test_what_is_written_is_read_back(policy: Policy) -> None:
    for file in (PolicyFile(), PolicyFile(enabled=False), PolicyFile(principals=("ann", "bob"))):
        policy.write(file)
        assert policy.read() == file


def test_a_policy_that_is_switched_off_allows_nobody(policy: Policy) -> None:
    policy.write(PolicyFile(enabled=False, principals=("ann",)))

    with pytest.raises(ObstructedError, match="switched off") as caught:
        policy.authorise(request())
    assert caught.value.code == "PERMISSION_DENIED"


def test_only_named_principals_may(policy: Policy) -> None:
    policy.write(PolicyFile(principals=("bob",)))

    with pytest.raises(ObstructedError, match="'ann' is not among"):
        policy.authorise(request())
    policy.authorise(request(principal="bob"))


def test_revoking_works_at_once(policy: Policy) -> None:
    policy.authorise(request())
    policy.write(PolicyFile(enabled=False))

    with pytest.raises(ObstructedError):
        policy.authorise(request())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        '{"enabled": true}',
        '{"enabled": "false", "principals": []}',
        '{"enabled": 0, "principals": []}',
        '{"enabled": true, "principals": "ann"}',
        '{"enabled": true, "principals": [1]}',
        '{"enabled": true, "principals": [], "admins": []}',
        "[" * 100_000,
    ],
)
def test_a_policy_that_cannot_be_read_allows_nobody(
    policy: Policy, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "home" / "policy.json"
    path.parent.mkdir()
    path.write_text(text)

    with pytest.raises(ObstructedError, match="assay policy set") as caught:
        policy.authorise(request())
    assert caught.value.code == "PERMISSION_DENIED"


def test_a_policy_that_is_no_file_or_no_text_allows_nobody(policy: Policy, tmp_path: Path) -> None:
    path = tmp_path / "home" / "policy.json"
    path.mkdir(parents=True)
    with pytest.raises(ObstructedError, match="not readable"):
        policy.authorise(request())

    path.rmdir()
    path.write_bytes(json.dumps({"enabled": True, "principals": ["ä"]}).encode("latin-1")[:-1])
    with pytest.raises(ObstructedError, match="not readable"):
        policy.authorise(request())
