"""How answers are described: every field named, nothing more; unknown values are null.

These models document answers and let tests hold answers to them; no answer is built from them.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

IsExperimental = Annotated[
    bool,
    Field(
        description="read from surfaces that answer today and may not tomorrow. "
        "来自实验性数据源, 随时可能失效."
    ),
]


class Shape(BaseModel):
    """An object with exactly these fields."""

    model_config = ConfigDict(extra="forbid")


Id = Annotated[
    str, Field(description="decimal digits, always text", examples=["7300000000000000001"])
]
Moment = Annotated[str, Field(description="ISO 8601, UTC", examples=["2026-01-31T12:00:00Z"])]
Count = Annotated[int, Field(ge=0)]
MaybeCount = Annotated[int | None, Field(description="null: not shown")]


class Envelope[Data](Shape):
    """The eleven keys of every JSON answer under `/api/v1/`."""

    code: Annotated[int, Field(description="the HTTP status")]
    request_id: Annotated[str, Field(description="also the X-Request-ID header")]
    message: str
    message_zh: str
    time: Annotated[
        str, Field(description="local time in time_zone", examples=["2026-01-31 12:00:00"])
    ]
    time_stamp: Annotated[int, Field(description="unix seconds")]
    time_zone: Annotated[str, Field(description="IANA name", examples=["UTC"])]
    docs: Annotated[str, Field(description="path of the description of this operation")]
    router: Annotated[str, Field(description="the request path")]
    params: Annotated[
        dict[str, Any],
        Field(description="parameters as understood: typed, defaults in, aliases resolved"),
    ]
    data: Data


class UpstreamAnswer(Shape):
    """What a surface of the platform answered."""

    surface: str
    reason: str | None
    status: int | None


class ErrorDocument(Shape):
    """What went wrong. `type` is stable and never translated."""

    type: Annotated[str, Field(examples=["invalid_parameter"])]
    detail: Annotated[str, Field(description="what was wrong with which value")]
    hint: Annotated[str | None, Field(description="what to do next")]
    retry_after: Annotated[float | None, Field(description="seconds")]
    upstream: UpstreamAnswer | None


class Failure(Shape):
    """`data` of an answer that failed."""

    error: ErrorDocument


class Note(Shape):
    """Something a reader should know."""

    type: str
    message: str
    message_zh: str


class Health(Shape):
    """The process is alive."""

    status: Literal["ok"]


class HealthCheck(Shape):
    """One thing that must work; `reason` null: it does."""

    name: str
    reason: str | None


class SurfaceState(Shape):
    """What the last probe of a surface said."""

    surface: str
    outcome: Literal["works", "refused", "changed", "unreachable"]
    error_type: str | None
    observed_at: Moment


class ReadinessReport(Shape):
    """Whether the service can do its work. `surfaces` are told, but do not decide."""

    ready: bool
    checks: list[HealthCheck]
    surfaces: list[SurfaceState]
