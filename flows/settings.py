"""Assay's settings: environment variables with the prefix ASSAY_."""

import re
from pathlib import Path
from typing import Annotated, Literal

import platformdirs
from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from state.durable import refuse_unspellable
from state.request import explain
from state.run_events import NoticeKind
from state.values.errors import InvalidRequest
from state.values.origins import normal_origin

_LIMIT = re.compile(r"(?:model|host|search):[^\s/%&<>=,]{1,200}")


class Settings(BaseSettings):
    """What can be set; every limit has a default that suits one person's machine.

    `services` are origins of one's own, such as http://127.0.0.1:8888, that may be asked although
    they are private (in the variable: separated by commas). `contact` is an e-mail address that
    scholarly services are told, which some of them reward with a faster queue.

    `model` is a pydantic-ai model string, or with `model_url`, the base URL of an OpenAI-compatible
    server, the model's name there; `model_key` is the key of that server. `model_plan`,
    `model_assess`, `model_write` and `model_check` name others for these operations of research,
    `model_design` and `model_code` for reading and planning, and for writing and repairing code;
    `model_fallback` those asked where the first cannot be had (separated by commas).
    `model_context` is the context in tokens, where it is not known. `model_input_usd` and
    `model_output_usd` are what a million tokens read and written cost, for models whose price is
    not known, such as those behind a gateway.

    `assay serve` executes `runs_at_once`, and `recovery` says what becomes of interrupted runs
    there: they go on (auto), are only marked (mark), or are left alone (off).

    With `sandbox_none`, generated code is run even where nothing can confine it but limits.

    `limits` are kept by all workers of a Prefect server together: how many requests at once a
    model's provider (model:NAME), a web host (host:NAME) or a search provider (search:NAME) gets,
    such as model:openai=4,host:example.org=1.

    A webhook at `webhook_url` is told when a run is `webhook_events`: waiting, failed, completed,
    cancelled or interrupted (separated by commas). With `webhook_secret`, "whsec_" and base64, it
    is told so signed; two of them separated by a space both sign, while one is replaced.

    For several machines, `ledger_url` is the PostgreSQL database that keeps the ledger, in its
    schema `ledger_schema`, and `artifacts_url` the place s3://BUCKET/PREFIX of the archive, at
    `artifacts_endpoint` where that is not Amazon's. A machine that is not heard of for
    `ledger_lease_s` has lost its runs, and a database that was there may be away for
    `ledger_outage_s` before they are interrupted.
    """

    model_config = SettingsConfigDict(env_prefix="ASSAY_", env_ignore_empty=True, extra="ignore")

    home: Path = Field(default_factory=lambda: Path(platformdirs.user_data_path("assay")))
    steps_at_once: int = Field(default=4, ge=1, le=64)
    conversions_at_once: int = Field(default=2, ge=1, le=16)
    server_start_timeout_s: float = Field(default=120.0, gt=0)
    server_idle_minutes: float = Field(default=30.0, gt=0)
    runs_at_once: int = Field(default=2, ge=1, le=64)
    recovery: Literal["auto", "mark", "off"] = "auto"
    services: Annotated[tuple[str, ...], NoDecode] = ()
    searxng_url: str = ""
    mediawiki_url: str = ""
    contact: str = ""
    model: str = ""
    model_url: str = ""
    model_key: SecretStr = SecretStr("")
    model_context: int | None = Field(default=None, ge=1024)
    model_fallback: Annotated[tuple[str, ...], NoDecode] = ()
    model_plan: str = ""
    model_assess: str = ""
    model_write: str = ""
    model_check: str = ""
    model_design: str = ""
    model_code: str = ""
    model_input_usd: float | None = Field(default=None, ge=0)
    model_output_usd: float | None = Field(default=None, ge=0)
    model_calls_at_once: int = Field(default=4, ge=1, le=64)
    model_deadline_s: float = Field(default=300.0, gt=0)
    sandbox_none: bool = False
    sql_timeout_s: float = Field(default=30.0, gt=0)
    gc_grace_hours: float = Field(default=24.0, ge=0)
    limits: Annotated[dict[str, int], NoDecode] = Field(default_factory=dict)
    webhook_url: SecretStr = SecretStr("")
    webhook_events: Annotated[tuple[NoticeKind, ...], NoDecode] = ("waiting", "failed", "completed")
    webhook_secret: SecretStr = SecretStr("")
    ledger_url: SecretStr = SecretStr("")
    ledger_schema: str = "assay"
    ledger_lease_s: float = Field(default=30.0, ge=2, le=3600)
    ledger_outage_s: float = Field(default=20.0, ge=0, le=3600)
    artifacts_url: str = ""
    artifacts_endpoint: str = ""

    @field_validator("services", mode="before")
    @classmethod
    def _listed(cls, services: object) -> object:
        if isinstance(services, str):
            services = services.replace(",", " ").split()
        if isinstance(services, (list, tuple)):
            return tuple(normal_origin(str(service)) for service in services)
        return services

    @field_validator("model_fallback", "webhook_events", mode="before")
    @classmethod
    def _names(cls, names: object) -> object:
        return tuple(names.replace(",", " ").split()) if isinstance(names, str) else names

    @field_validator("limits", mode="before")
    @classmethod
    def _counted(cls, limits: object) -> object:
        if not isinstance(limits, str):
            return limits
        counted: dict[str, str] = {}
        for each in limits.replace(",", " ").split():
            name, is_there, most = each.rpartition("=")
            if not is_there or name.lower() in counted:
                raise ValueError(f"{each!r} is no limit, or the second of its name: KIND:NAME=N")
            counted[name.lower()] = most
        return counted

    @field_validator("limits")
    @classmethod
    def _named(cls, limits: dict[str, int]) -> dict[str, int]:
        for name, most in limits.items():
            if not _LIMIT.fullmatch(name) or most < 1:
                raise ValueError(
                    f"{name}={most} is no limit; give model:NAME, host:NAME or search:NAME, and 1 "
                    "or more"
                )
        return limits

    @property
    def notify(self) -> tuple[NoticeKind, ...]:
        """Return what a webhook is told of: nothing where there is none."""
        return self.webhook_events if self.webhook_url.get_secret_value() else ()

    @property
    def is_shared(self) -> bool:
        """Tell whether the ledger is one that other machines may share."""
        return bool(self.ledger_url.get_secret_value())

    @property
    def cache(self) -> Path:
        """Return the folder of what can be made again."""
        return self.home / "cache"


def load_settings() -> Settings:
    """Return the settings; raises `InvalidRequest` naming the variable that is wrong."""
    try:
        settings = Settings()
    except ValidationError as error:
        names = ", ".join(f"ASSAY_{str(problem['loc'][0]).upper()}" for problem in error.errors())
        raise InvalidRequest(f"check the setting {names}: {explain(error)}") from error
    try:
        home = settings.home.expanduser().absolute()
    except (OSError, RuntimeError) as error:
        raise InvalidRequest(
            f"cannot tell where to keep data ({error}); set ASSAY_HOME to the path of a folder"
        ) from error
    refuse_unspellable(home)
    if home.exists() and not home.is_dir():
        raise InvalidRequest(f"{home} is no folder; set ASSAY_HOME to the path of a folder")
    return settings.model_copy(update={"home": home})
