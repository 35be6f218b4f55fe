"""Every setting of collecting and listening, typed. The API's own are in `api/settings.py`.

Values come from the environment or from `.env` in the working directory; names are upper-case.
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

DataProvider = Literal["vidplat-public", "browser-public", "mock", "file", "vidplat-web"]
MusicProvider = Literal["public-graph", "mobileapp-guest", "browser-public"]


class Settings(BaseSettings):
    """Settings shared by worker, API, CLI and Dagster. See `.env.example` for the meaning."""

    model_config = SettingsConfigDict(env_file=".env", extra="ignore", frozen=True)

    profile: str | None = Field(None, description="platform profile: `public`, `sandbox` or a file")
    data_provider: DataProvider = Field("vidplat-public", description="source of users and posts")
    music_data_provider: MusicProvider = Field("public-graph", description="source of music scans")
    public_fallback_to_mock: bool = Field(
        False, description="answer with demo data where the public source says no"
    )
    mock_seed: int = Field(7, ge=0, description="which demo world `mock` invents")
    mock_size: float = Field(0.3, ge=0.1, le=40, description="its size; 1 has 5,000 videos")
    users_file: Path | None = Field(None, description="JSON file of the accounts of `file`")
    videos_file: Path | None = Field(None, description="JSON file of the videos of `file`")
    vidplat_cookie: SecretStr | None = Field(None, description="own cookie, `vidplat-web` alone")
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
    lake_url: str | None = Field(None, description="lake root; default: a folder in the home")
    result_cache_ttl: int = Field(6 * 3600, ge=0, description="seconds a stored result serves")
    link_ttl_days: int = Field(30, ge=1, description="days it is remembered where a link leads")
    job_retention_days: int = Field(30, ge=1, description="days a job and its result are kept")
    orchestrator_retention_days: int = Field(30, ge=1, description="days a run's events are kept")
    payload_retention_days: int = Field(90, ge=1, description="days a body is kept as it was read")
    sound_retention_days: int = Field(180, ge=1, description="days measured sound is kept")
    outbox_max_lines: int = Field(10_000, ge=0, description="outbox lines kept when nobody reads")
    excerpts_max_mb: int = Field(200, ge=0, description="size of kept excerpts; 0 keeps none")
    excerpt_retention_days: int = Field(180, ge=1, description="days an excerpt is kept")
    runs: Literal["local", "remote"] = Field("local", description="who executes scans")
    worker_runs: int = Field(2, ge=1, le=64, description="scans that run at the same time")
    worker_gives_way: bool = Field(True, description="scans are less urgent than other programs")
    listening_workers: int = Field(2, ge=1, le=64, description="child processes that decode sound")
    heartbeat_s: float = Field(2.0, gt=0, description="how often a worker says that it is alive")
    worker_lost_after_s: float = Field(20.0, gt=0, description="silence after which it is lost")
    sandbox_port: int = Field(8790, ge=1, le=65535, description="port of the stand-in platform")
    robots: Literal["record", "obey"] = Field(
        "record", description="what a robots.txt that disallows a surface does: be kept, or stop it"
    )
    daily_request_budget: int = Field(20_000, ge=1, description="requests per host and day")
    min_free_disk_mb: int = Field(500, ge=0, description="below this no new work is taken")
    canary_music_id: str | None = Field(None, description="track that the doctor asks about")
    canary_aweme_id: str | None = Field(None, description="work that the doctor asks about")
    canary_sec_uid: str | None = Field(None, description="account that the doctor asks about")
    canary_ch_id: str | None = Field(None, description="hashtag that the doctor asks about")
    canary_link: str | None = Field(None, description="short link that the doctor follows")
    canary_term: str | None = Field(None, description="words that the doctor searches for")
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
        description="hours between two rounds of upkeep by the schedule; 0 on demand",
    )
    checks_every_h: int = Field(
        24, ge=0, le=168, description="hours between two checks of all tables; 0 on demand"
    )
    doctor_every_h: int = Field(
        0, ge=0, le=168, description="hours between two examinations of this machine; 0 on demand"
    )
    reports_every_h: int = Field(
        0, ge=0, le=168, description="hours between two makings of all reports; 0 on demand"
    )
    console_url: str | None = Field(
        None, description="where people reach the console; links of the orchestrator lead there"
    )
    chart_daily: bool = Field(
        False, description="read new issues of the chart every day; false reads on demand"
    )
    watch_retention_days: int = Field(90, ge=1, description="days a watchlist's run is kept")
    digest_webhook_url: SecretStr | None = Field(None, description="https address told of digests")
    digest_webhook_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="hosts that may be told of digests, comma-separated"
    )

    @field_validator(
        "users_file", "videos_file", "vidplat_cookie", "chromium_path", "canary_music_id",
        "mobileapp_device", "mobileapp_package",
        "canary_aweme_id", "canary_sec_uid", "canary_ch_id", "canary_link", "canary_term",
        "digest_webhook_url", "console_url",
        mode="before",
    )  # fmt: skip
    @classmethod
    def _no_blank(cls, value: object) -> object:
        """`NAME=` in a file means "none", not the working directory or an empty cookie."""
        return None if isinstance(value, str) and not value.strip() else value

    @field_validator("digest_webhook_hosts", mode="before")
    @classmethod
    def _split_hosts(cls, value: object) -> object:
        """Environment variables hold text: `a.example, b.example`."""
        if not isinstance(value, str):
            return value
        return tuple(name.strip() for name in value.split(",") if name.strip())
