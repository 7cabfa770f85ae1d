"""Swift values: what they have in common with frozen dataclasses."""

import pickle
from dataclasses import asdict, dataclass, replace

import pytest

from state.values.money import Usage
from state.values.swift import swift


@dataclass(frozen=True, slots=True)
class Frozen:
    name: str
    count: int = 0


@swift(frozen=True, slots=True)
class Swift:
    name: str
    count: int = 0


def test_a_swift_value_has_the_hash_and_the_equality_of_a_frozen_one() -> None:
    assert hash(Swift("a", 1)) == hash(Frozen("a", 1))
    assert {Swift("a"), Swift("a", 0), Swift("b")} == {Swift("a"), Swift("b")}
    assert Swift("a") != Swift("a", 1)


def test_a_swift_value_has_no_room_for_what_it_does_not_declare() -> None:
    with pytest.raises(AttributeError):
        setattr(Swift("a"), "other", 1)  # noqa: B010 - the name is none that types know


def test_a_swift_value_is_copied_with_changes_and_sent_to_other_processes() -> None:
    used = replace(Usage(searches=1), pages=2)

    assert pickle.loads(pickle.dumps(used)) == used
    assert asdict(used)["pages"] == 2
