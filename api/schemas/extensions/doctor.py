"""Schema of the last diagnosis of the platform's surfaces."""

from typing import Annotated, Literal

from pydantic import Field

from api.schemas.base_models import HealthCheck, ResponseModel, Timestamp


class EndpointName(ResponseModel):
    """An endpoint of the interface: number, name and short description."""

    number: int
    name: str
    short: str


class SurfaceReport(ResponseModel):
    """The last probe of one surface."""

    surface: str
    label: Annotated[str, Field(description="name of the surface for display")]
    outcome: Literal["works", "refused", "changed", "unreachable"]
    words: Annotated[str, Field(description="the outcome for display")]
    error_type: str | None
    reason: Annotated[
        str | None, Field(description="reason code of the platform or of this service")
    ]
    reason_words: str | None
    http_status: int | None
    request_count: int
    duration_ms: int
    entity_id: Annotated[str | None, Field(description="id that was requested")]
    keys_came: Annotated[
        list[str], Field(description="key paths that no earlier successful response had")
    ]
    keys_went: Annotated[
        list[str], Field(description="missing key paths that every earlier successful response had")
    ]
    observed_at: Timestamp
    last_worked_at: Timestamp | None
    used_by: list[EndpointName]
    suffering: Annotated[
        list[EndpointName], Field(description="endpoints without another working source")
    ]
    read_instead: Annotated[str | None, Field(description="surface that is read instead")]
    advice: Annotated[str | None, Field(description="what to do")]


class CircuitReport(ResponseModel):
    """A surface of a host that failed recently; `open_until` null: requests are allowed."""

    host: str
    surface: str
    failures: int
    cause: str | None
    open_until: Timestamp | None


class RobotsReport(ResponseModel):
    """Decision from a host's robots file for a surface."""

    host: str
    surface: str
    decision: Literal["allowed", "disallowed", "unknown"]
    reason: str
    decided_at: Timestamp


class DoctorReport(ResponseModel):
    """Readiness checks of the service, and the last probe of each surface."""

    ready: bool
    checks: list[HealthCheck]
    surfaces: list[SurfaceReport]
    observed_at: Annotated[Timestamp | None, Field(description="null: never probed")]
    circuits: list[CircuitReport]
    robots: list[RobotsReport]
    is_demo_data: bool
