"""Types that many answers share: marks of their source, notes, readiness."""

from typing import Annotated, Literal

from pydantic import Field

from pipelines.documents.fields import ClosedDocument, Timestamp
from warehouse.records.health import ProbeOutcome

IsExperimental = Annotated[
    bool,
    Field(
        description="true: from an experimental source that may stop working at any time. "
        "来自实验性数据源，随时可能失效。"
    ),
]


class Provenance(ClosedDocument):
    """Where the data of a synchronous read comes from."""

    data_provider: str
    is_experimental: IsExperimental
    is_demo_data: bool


class ResultNote(ClosedDocument):
    """A remark for the reader of a result."""

    type: str
    message: str
    message_zh: str


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
