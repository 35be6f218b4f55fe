"""Type of the last diagnosis of the platform's surfaces."""

from typing import Annotated

from pydantic import Field

from api.schemas.base_models import HealthCheck
from api.settings import SettingSource
from pipelines.doctor.documents import CircuitReport, RobotsReport, SurfaceReport
from pipelines.documents.fields import ClosedDocument, Timestamp


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
