"""Settings of the pipelines, typed. The settings of the API are in `api/settings.py`.

Values come from the environment or from `.env` in the working directory; names are upper-case.
"""

from datetime import date
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from warehouse.home import DataProvider, MusicProvider

_FIRST_DAY, _LAST_DAY = date(2025, 10, 1), date(2045, 12, 31)
"""Days on which a world of the sandbox can end: after its example videos, within its chart."""


def last_day_of(calendar: str) -> date | None:
    """Return the day that a calendar of the sandbox names; None for `today` and `fixed`.

    Raises:
        ValueError: There is no such calendar.
    """
    if calendar in {"today", "fixed"}:
        return None
    try:
        day = date.fromisoformat(calendar)
    except ValueError:
        day = date.min
    if not _FIRST_DAY <= day <= _LAST_DAY:
        raise ValueError(
            f"{calendar!r} is no calendar of the sandbox: use today, fixed, or a date from "
            f"{_FIRST_DAY} to {_LAST_DAY}"
        )
    return day


class Settings(BaseSettings):
    """Settings shared by worker, API, CLI and Dagster. See `.env.example` for the meaning."""

    model_config = SettingsConfigDict(env_file=".env", extra="ignore", frozen=True)

    profile: str | None = Field(None, description="platform profile: `public`, `sandbox` or a file")
    profile_patch: Path | None = Field(None, description="reviewed additions to the profile")
    data_provider: DataProvider = Field("vidplat-public", description="source of users and posts")
    music_data_provider: MusicProvider = Field("public-graph", description="source of music scans")
    public_fallback_to_mock: bool = Field(
        False, description="answer with demo data if the public source refuses"
    )
    mock_seed: int = Field(7, ge=0, description="seed of the demo world of `mock`")
    mock_size: float = Field(0.3, ge=0.1, le=40, description="its size; 1 has 5,000 videos")
    users_file: Path | None = Field(None, description="JSON file of the accounts of `file`")
    videos_file: Path | None = Field(None, description="JSON file of the videos of `file`")
    vidplat_cookie: SecretStr | None = Field(None, description="own cookie, for `vidplat-web` only")
    chromium_path: Path | None = Field(None, description="browser of `browser-public`")
    mobileapp_device: Annotated[str, Field(pattern=r"^[A-Za-z0-9._:-]{1,64}$")] | None = Field(
        None, description="serial of the Android device of `mobileapp-guest`"
    )
    mobileapp_package: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.]{3,128}$")] | None = Field(
        None, description="the app on that device; default: the profile's"
    )
    mobileapp_adb_port: int = Field(5037, ge=1, le=65535, description="port of the adb server")
    data_home: Path = Field(Path("warehouse/data"), description="folder of all stores")
    control_url: str | None = Field(None, description="control store; default: SQLite in the home")
    dagster_storage_url: str | None = Field(
        None, description="Dagster's runs and events in PostgreSQL; default: files in the home"
    )
    lake_url: str | None = Field(None, description="lake root; default: a folder in the home")
    result_cache_ttl: int = Field(
        6 * 3600, ge=0, description="seconds that a stored result is reused"
    )
    link_ttl_days: int = Field(30, ge=1, description="days that a resolved link is cached")
    job_retention_days: int = Field(30, ge=1, description="days that a job and its result are kept")
    orchestrator_retention_days: int = Field(
        30, ge=1, description="days that a run's events are kept"
    )
    payload_retention_days: int = Field(90, ge=1, description="days that a payload is kept")
    checkpoint_retention_days: int = Field(
        3,
        ge=0,
        description="days that an ended scan's states are kept, for single steps in Dagster",
    )
    sound_retention_days: int = Field(180, ge=1, description="days that audio features are kept")
    excerpts_max_mb: int = Field(200, ge=0, description="total size of excerpts; 0 keeps none")
    excerpt_retention_days: int = Field(180, ge=1, description="days that an excerpt is kept")
    random_audit_size: int = Field(
        20, ge=0, le=500, description="videos that a scan compares at random; 0 compares none"
    )
    runs: Literal["local", "remote"] = Field("local", description="who executes scans")
    celery_broker_url: SecretStr | None = Field(
        None, description="Celery's broker, for Dagster's runs on Celery workers; default: none"
    )
    worker_runs: int = Field(2, ge=1, le=64, description="scans that run at the same time")
    listening_workers: int = Field(2, ge=1, le=64, description="child processes that decode audio")
    heartbeat_s: float = Field(2.0, gt=0, description="seconds between a worker's heartbeats")
    worker_lost_after_s: float = Field(20.0, gt=0, description="seconds until a silent one is lost")
    sandbox_port: int = Field(8790, ge=1, le=65535, description="port of the sandbox")
    sandbox_calendar: str = Field(
        "today",
        description="when the sandbox's posts end: now, on a date, or on the fixed day of its seed",
    )
    robots: Literal["record", "obey"] = Field(
        "record", description="reaction to a disallowing robots.txt: only record it, or obey it"
    )
    daily_request_budget: int = Field(20_000, ge=1, description="requests per host and day")
    min_free_disk_mb: int = Field(500, ge=0, description="below this no new jobs start")
    canary_music_id: str | None = Field(None, description="track that the doctor requests")
    canary_aweme_id: str | None = Field(None, description="video that the doctor requests")
    canary_sec_uid: str | None = Field(None, description="account that the doctor requests")
    canary_ch_id: str | None = Field(None, description="hashtag that the doctor requests")
    canary_link: str | None = Field(None, description="short link that the doctor follows")
    canary_term: str | None = Field(None, description="search term that the doctor uses")
    canaries_every_h: int = Field(
        0, ge=0, le=168, description="hours between two probes of all surfaces; 0 probes on demand"
    )
    database_every_h: int = Field(
        24, ge=0, le=168, description="hours between two publications of the marts; 0 on demand"
    )
    maintenance_every_h: int = Field(
        24,
        ge=0,
        le=168,
        description="hours between two maintenance runs by the schedule; 0 on demand",
    )
    checks_every_h: int = Field(
        24, ge=0, le=168, description="hours between two checks of all tables; 0 on demand"
    )
    doctor_every_h: int = Field(
        0, ge=0, le=168, description="hours between two health checks of this machine; 0 on demand"
    )
    reports_every_h: int = Field(
        0, ge=0, le=168, description="hours between two builds of all reports; 0 on demand"
    )
    console_url: str | None = Field(
        None, description="public URL of the console, for links in the orchestrator"
    )
    chart_daily: bool = Field(
        False, description="read new issues of the chart every day; false reads on demand"
    )
    watch_retention_days: int = Field(90, ge=1, description="days that a watchlist's run is kept")
    digest_webhook_url: SecretStr | None = Field(
        None, description="https URL that receives digests"
    )
    digest_webhook_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="hosts that may receive digests, comma-separated"
    )
    alert_networks: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="networks inside the machine or its site that alerts may contact, such as "
        "10.1.2.0/24, comma-separated",
    )

    @field_validator(
        "profile_patch",
        "users_file",
        "videos_file",
        "vidplat_cookie",
        "chromium_path",
        "canary_music_id",
        "mobileapp_device",
        "mobileapp_package",
        "canary_aweme_id",
        "canary_sec_uid",
        "canary_ch_id",
        "canary_link",
        "canary_term",
        "digest_webhook_url",
        "console_url",
        "celery_broker_url",
        mode="before",
    )
    @classmethod
    def _no_blank(cls, value: object) -> object:
        """Treat `NAME=` in a file as unset, not as the working directory or an empty cookie."""
        return None if isinstance(value, str) and not value.strip() else value

    @field_validator("sandbox_calendar")
    @classmethod
    def _check_calendar(cls, value: str) -> str:
        last_day_of(value)
        return value

    @field_validator("digest_webhook_hosts", "alert_networks", mode="before")
    @classmethod
    def _split_list(cls, value: object) -> object:
        """Split the text of an environment variable: `a.example, b.example`."""
        if not isinstance(value, str):
            return value
        return tuple(name.strip() for name in value.split(",") if name.strip())

    @field_validator("alert_networks")
    @classmethod
    def _check_networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for network in value:
            ip_network(network)
        return value
