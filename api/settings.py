"""Settings of the API process: the shared ones, and those of the HTTP service itself."""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import NoDecode

from pipelines.settings import Settings

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
SERVICE_VERSION = "2.0.0"
SHARED_PAGES = "/shared/"
"""Beginning of the addresses of read-only links; the rest is the token of a link."""
MCP_PATH = "/mcp"


class ApiSettings(Settings):
    """Settings of the HTTP service. `.env.example` explains all of them."""

    own_api_token: SecretStr | None = Field(
        None, description="when set, every request must carry it"
    )
    own_api_tokens: Path | None = Field(
        None, description="file of further tokens: role and SHA-256, one a line"
    )
    session_hours: float = Field(12.0, gt=0, description="hours a browser stays signed in")
    dagster_url: str | None = Field(None, description="address of the Dagster UI, for links")
    api_host: str = Field("127.0.0.1", description="address to listen on")
    api_port: int = Field(8780, ge=1, le=65535, description="port to listen on")
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="additional host names to accept, comma-separated"
    )
    time_zone: str = Field("UTC", description="IANA zone of `time` in responses")
    body_limit_bytes: int = Field(65_536, ge=1024, description="maximum size of a request body")
    request_timeout_s: float = Field(
        20.0, gt=0, description="seconds to receive the body of a request"
    )
    idle_timeout_s: int = Field(
        5, ge=1, description="seconds that a connection stays open for the next request"
    )
    rate_limit_per_s: float = Field(100.0, ge=0, description="requests per address; 0: no limit")
    rate_limit_burst: int = Field(500, ge=1, description="burst of requests per address")
    answer_cache_mb: int = Field(64, ge=0, description="memory for cached responses")
    event_streams_max: int = Field(64, ge=0, description="open event streams per process")
    pictures: bool = Field(True, description="read covers and avatars from the platform")
    pictures_max_mb: int = Field(100, ge=1, description="total size of stored pictures")
    pictures_max_count: int = Field(20_000, ge=1, description="number of stored pictures")
    sql_time_limit_s: float = Field(20.0, gt=0, description="seconds a statement of a user may run")
    sql_memory_mb: int = Field(512, ge=64, description="memory for the statement of a user")
    sync_job_timeout: float = Field(120.0, gt=0, description="seconds to wait for a discovery")
    sync_request_timeout: float = Field(30.0, gt=0, description="seconds a read may take")
    local_cursor_mode: bool = Field(
        True, description="page over observed posts where a source reads only first screens"
    )
    profile_ttl: int = Field(600, ge=0, description="seconds an observed profile is reused")
    posts_ttl: int = Field(600, ge=0, description="seconds an observed page of posts is reused")
    video_ttl: int = Field(1800, ge=0, description="seconds observed counts of a video are reused")
    negative_ttl: int = Field(
        60, ge=0, description="seconds before an unknown id is requested again"
    )
    mcp_http: bool = Field(False, description="serve the tools for assistants at /mcp")
    mcp_may_start_jobs: bool = Field(False, description="let assistants start scans")
    stop_grace_s: int = Field(
        5, ge=0, description="seconds that running requests get to finish on shutdown"
    )

    @field_validator("allowed_hosts", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        """Split the text of an environment variable, such as `a.example, b.example`."""
        if not isinstance(value, str):
            return value
        return tuple(name.strip() for name in value.split(",") if name.strip())

    @field_validator("own_api_token")
    @classmethod
    def _stripped_token(cls, value: SecretStr | None) -> SecretStr | None:
        """Strip blanks, as every reader of a token does.

        `OWN_API_TOKEN=` is no token, so that an empty token never grants access.
        """
        token = "" if value is None else value.get_secret_value().strip()
        return SecretStr(token) if token else None

    @field_validator("time_zone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (KeyError, ValueError, OSError) as exc:
            raise ValueError(f"{value!r} is not an IANA time zone") from exc
        return value

    @field_validator("own_api_tokens", mode="before")
    @classmethod
    def _no_blank_path(cls, value: object) -> object:
        """Treat `OWN_API_TOKENS=` as no file; a blank path would be the working directory."""
        return None if isinstance(value, str) and not value.strip() else value

    @property
    def has_tokens(self) -> bool:
        """True if every request must carry a token or a session."""
        return self.own_api_token is not None or self.own_api_tokens is not None

    @model_validator(mode="after")
    def _no_open_door(self) -> "ApiSettings":
        if not self.has_tokens and not is_loopback(self.api_host):
            raise ValueError("OWN_API_TOKEN is required when API_HOST is not a loopback address")
        return self

    @property
    def served_hosts(self) -> frozenset[str]:
        """Host names accepted in requests: loopback, the bound address and the allowed ones."""
        return frozenset(
            {*LOOPBACK_NAMES, self.api_host.lower(), *map(str.lower, self.allowed_hosts)}
        )


SettingSource = Literal["default", "environment", "file"]
_CREDENTIALS = re.compile(r"(?<=://).*@", re.DOTALL)
_QUERY = re.compile(r"(?<=://)([^?&]*)[?&].*", re.DOTALL)
"""A password may stand in the query of an address, and contain `/`, `?` and `&` before the `@`."""
_LOCAL_FOLDERS = re.compile(r"^((?:sqlite|file)://)?/(?:[^/]*/)*(?=[^/])")
"""Folders of this machine in front of a name: answers show none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedSetting:
    """A setting by its upper-case name, its value as text, and where that comes from.

    A secret is `***`, and so are the credentials and the query of an address; None: not set.
    """

    name: str
    value: str | None
    source: SettingSource
    description: str


def applied_settings(
    settings: ApiSettings, *, environment: Mapping[str, str], file: Mapping[str, str | None]
) -> list[AppliedSetting]:
    """Return all settings as they apply, sorted by name. `file` has the values of `.env`."""

    def source_of(name: str) -> SettingSource:
        given = {key.upper() for key in environment}
        if name in given:
            return "environment"
        return "file" if name in {key.upper() for key in file} else "default"

    return [
        AppliedSetting(
            name=name.upper(),
            value=_shown(getattr(settings, name)),
            source=source_of(name.upper()),
            description=field.description or "",
        )
        for name, field in sorted(type(settings).model_fields.items())
    ]


def _shown(value: object) -> str | None:
    if value is None or isinstance(value, SecretStr):
        return None if value is None else "***"
    if isinstance(value, tuple):
        return ", ".join(map(_shown_text, map(str, value)))
    return _shown_text(str(value))


def _shown_text(text: str) -> str:
    text = _QUERY.sub(r"\1?***", _CREDENTIALS.sub("***@", text))
    return _LOCAL_FOLDERS.sub(r"\1…/", text)


def is_loopback(host: str) -> bool:
    """Return True for `localhost` and loopback addresses. Any other name may resolve anywhere."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
