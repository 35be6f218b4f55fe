"""The last report about the platform's surfaces, as our own operation answers it."""

from typing import Annotated, Literal

from pydantic import Field

from api.schemas.shape import HealthCheck, Moment, Shape


class EndpointName(Shape):
    """An endpoint of the interface: its number, its name, and what it is in two words."""

    number: int
    name: str
    short: str


class SurfaceReport(Shape):
    """The last probe of one surface."""

    surface: str
    label: Annotated[str, Field(description="what the surface is to us")]
    outcome: Literal["works", "refused", "changed", "unreachable"]
    words: Annotated[str, Field(description="the outcome for people")]
    error_type: str | None
    reason: Annotated[str | None, Field(description="the platform's own word, or ours")]
    reason_words: str | None
    http_status: int | None
    request_count: int
    duration_ms: int
    entity_id: Annotated[str | None, Field(description="what was asked about")]
    keys_came: Annotated[list[str], Field(description="key paths that no good answer had")]
    keys_went: Annotated[list[str], Field(description="key paths that every good answer had")]
    observed_at: Moment
    last_worked_at: Moment | None
    used_by: list[EndpointName]
    suffering: Annotated[
        list[EndpointName], Field(description="endpoints without another source that works")
    ]
    read_instead: Annotated[str | None, Field(description="the surface that stands in")]
    advice: Annotated[str | None, Field(description="what to do")]


class CircuitReport(Shape):
    """A surface at a host that failed lately; `open_until` null: it is asked."""

    host: str
    surface: str
    failures: int
    cause: str | None
    open_until: Moment | None


class RobotsReport(Shape):
    """What a host's robots file says of a surface."""

    host: str
    surface: str
    decision: Literal["allowed", "disallowed", "unknown"]
    reason: str
    decided_at: Moment


class DoctorReport(Shape):
    """What the service needs, and how each surface fared when it was last probed."""

    ready: bool
    checks: list[HealthCheck]
    surfaces: list[SurfaceReport]
    observed_at: Annotated[Moment | None, Field(description="null: never probed")]
    circuits: list[CircuitReport]
    robots: list[RobotsReport]
    is_demo_data: bool
