"""What `assay doctor` says of settings that are kept elsewhere: limits, webhooks."""

from pathlib import Path

import pytest

from flows.doctor import Check, examine_only
from flows.settings import load_settings

SECRET = "whsec_" + "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo="


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("ASSAY_LIMITS", raising=False)


def seen(name: str) -> Check:
    return examine_only(load_settings(), name)


def test_limits_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert seen("shared limits").detail.startswith("none (ASSAY_LIMITS")

    monkeypatch.setenv("ASSAY_LIMITS", "model:openai=4,host:example.org=1")

    assert seen("shared limits").detail == "host:example.org=1, model:openai=4"


def test_a_webhook_is_named_without_what_is_secret_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert seen("webhook").detail == "none (ASSAY_WEBHOOK_URL names one)"

    monkeypatch.setenv("ASSAY_WEBHOOK_URL", "https://hooks.example.org/T0/geheim?key=hidden")
    assert "not signed" in seen("webhook").detail
    monkeypatch.setenv("ASSAY_WEBHOOK_SECRET", SECRET)

    detail = seen("webhook").detail
    assert detail == (
        "https://hooks.example.org is told of waiting, failed, completed; signed (not asked)"
    )


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"ASSAY_WEBHOOK_SECRET": SECRET}, "ASSAY_WEBHOOK_URL is not"),
        ({"ASSAY_WEBHOOK_URL": "https://hooks.example.org", "ASSAY_WEBHOOK_SECRET": "geheim"},
         "ASSAY_WEBHOOK_SECRET"),
        ({"ASSAY_WEBHOOK_URL": "ftp://geheim"}, "ASSAY_WEBHOOK_URL"),
    ],
)  # fmt: skip
def test_a_webhook_that_cannot_work_is_said_to_be_unwell(
    settings: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)

    check = seen("webhook")

    assert not check.ok
    assert said in check.detail
    assert "geheim" not in check.detail
