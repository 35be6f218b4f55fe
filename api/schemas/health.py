"""Schemas for readiness, the last diagnosis of the platform, a first track, and settings."""

from typing import Annotated, Literal

from pydantic import Field

from api.settings import SettingSource
from pipelines.doctor.documents import CircuitReport, RobotsReport, SurfaceReport
from pipelines.documents.fields import ClosedDocument, Timestamp
from warehouse.records.health import ProbeOutcome


class Health(ClosedDocument):
    """The process is alive."""

    status: Literal["ok"]


class HealthCheck(ClosedDocument):
    """One readiness check; `reason` null: passed."""

    name: str
    reason: str | None


class SurfaceState(ClosedDocument):
    """Outcome of the last probe of a surface."""

    surface: str
    outcome: ProbeOutcome
    error_type: str | None
    observed_at: Timestamp


class ReadinessReport(ClosedDocument):
    """Readiness of the service. `surfaces` are informative and do not affect it."""

    ready: bool
    checks: list[HealthCheck]
    surfaces: list[SurfaceState]


class PlatformReport(ClosedDocument):
    """The last probe of each surface, and what is known of the hosts."""

    surfaces: list[SurfaceReport]
    observed_at: Annotated[Timestamp | None, Field(description="null: never probed")]
    circuits: list[CircuitReport]
    robots: list[RobotsReport]
    is_demo_data: bool


class DoctorReport(PlatformReport):
    """Readiness checks of the service, and the last probe of each surface."""

    ready: bool
    checks: list[HealthCheck]


class ExampleDocument(ClosedDocument):
    """A track to begin with; `input` null: none is known."""

    input: str | None
    title: str | None
    is_demo_data: bool


class SettingDocument(ClosedDocument):
    """A setting as it applies; secrets are `***`, null: not set."""

    name: str
    value: str | None
    source: Annotated[SettingSource, Field(description="environment, `.env`, or the default")]
    description: str


class SettingList(ClosedDocument):
    """All settings of the service, by name."""

    settings: list[SettingDocument]
    returned_count: int
    is_demo_data: bool
