"""Base schemas: every field is named, no others are allowed, unknown values are null.

These models document responses and let tests validate them. Responses are not built from them.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

IsExperimental = Annotated[
    bool,
    Field(
        description="true: from an experimental source that may stop working at any time. "
        "来自实验性数据源, 随时可能失效."
    ),
]


class ResponseModel(BaseModel):
    """An object with exactly these fields."""

    model_config = ConfigDict(extra="forbid")


Id = Annotated[str, Field(description="decimal digits as text", examples=["7300000000000000001"])]
Timestamp = Annotated[str, Field(description="ISO 8601, UTC", examples=["2026-01-31T12:00:00Z"])]
Count = Annotated[int, Field(ge=0)]
OptionalCount = Annotated[int | None, Field(description="null: unknown")]


class Envelope[Data](ResponseModel):
    """The eleven keys of every JSON response under `/api/v1/`."""

    code: Annotated[int, Field(description="the HTTP status")]
    request_id: Annotated[str, Field(description="same as the X-Request-ID header")]
    message: str
    message_zh: str
    time: Annotated[
        str, Field(description="local time in time_zone", examples=["2026-01-31 12:00:00"])
    ]
    time_stamp: Annotated[int, Field(description="unix seconds")]
    time_zone: Annotated[str, Field(description="IANA name", examples=["UTC"])]
    docs: Annotated[str, Field(description="path of the documentation of this operation")]
    router: Annotated[str, Field(description="the request path")]
    params: Annotated[
        dict[str, Any],
        Field(description="effective parameters: typed, with defaults, aliases resolved"),
    ]
    data: Data


class UpstreamResponse(ResponseModel):
    """Response of a platform surface."""

    surface: str
    reason: str | None
    status: int | None


class ErrorDocument(ResponseModel):
    """An error. `type` is stable and never translated."""

    type: Annotated[str, Field(examples=["invalid_parameter"])]
    detail: Annotated[str, Field(description="what went wrong, with which value")]
    hint: Annotated[str | None, Field(description="what to do")]
    retry_after: Annotated[float | None, Field(description="seconds")]
    upstream: UpstreamResponse | None


class ErrorData(ResponseModel):
    """`data` of an error response."""

    error: ErrorDocument


class ResultNote(ResponseModel):
    """A remark for the reader of a result."""

    type: str
    message: str
    message_zh: str


class Health(ResponseModel):
    """The process is alive."""

    status: Literal["ok"]


class HealthCheck(ResponseModel):
    """One readiness check; `reason` null: passed."""

    name: str
    reason: str | None


class SurfaceState(ResponseModel):
    """Outcome of the last probe of a surface."""

    surface: str
    outcome: Literal["works", "refused", "changed", "unreachable"]
    error_type: str | None
    observed_at: Timestamp


class ReadinessReport(ResponseModel):
    """Readiness of the service. `surfaces` are informative and do not affect it."""

    ready: bool
    checks: list[HealthCheck]
    surfaces: list[SurfaceState]
