"""Types of the envelope and of errors."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from pipelines.documents.fields import ClosedDocument


class Envelope[Data](BaseModel):
    """The eleven keys of every JSON response under `/api/v1/`."""

    # Built for the API description alone; building all of them is a fifth of the start.
    model_config = ConfigDict(extra="forbid", defer_build=True)

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
        dict[str, object],
        Field(description="effective parameters: typed, with defaults, aliases resolved"),
    ]
    data: Data


class UpstreamResponse(ClosedDocument):
    """Response of a platform surface."""

    surface: str
    reason: str | None
    status: int | None


class ErrorDocument(ClosedDocument):
    """An error. `type` is stable and never translated."""

    type: Annotated[str, Field(examples=["invalid_parameter"])]
    detail: Annotated[str, Field(description="what went wrong, with which value")]
    hint: Annotated[str | None, Field(description="what to do")]
    retry_after: Annotated[float | None, Field(description="seconds")]
    upstream: UpstreamResponse | None


class ErrorData(ClosedDocument):
    """`data` of an error response."""

    error: ErrorDocument
