"""Types of the envelope and of errors, and documents built from records."""

from collections.abc import Callable, Mapping
from datetime import date, datetime
from functools import partial
from typing import Annotated, cast

from pydantic import BaseModel, ConfigDict, Field

from pipelines.documents.fields import ClosedDocument
from pipelines.documents.videos import to_time


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


def to_document[Kind](kind: type[Kind], record: object, /, **others: object) -> Kind:
    """Build a document of this type from the fields of a record or a row that have its names.

    `to_document(ComparedVideo, row)` reads the columns that `ComparedVideo` declares from `row`.

    Args:
        kind: A `TypedDict`.
        record: A dataclass, or a mapping by name. Times become text, tuples lists.
        others: Values of fields that the record lacks, or has in another form.
    """
    read = record.__getitem__ if isinstance(record, Mapping) else partial(getattr, record)
    document = {}
    for name in kind.__annotations__:
        value = others[name] if name in others else read(name)
        # By exact type: a `datetime` is also a `date`, and a named tuple stays what it is.
        encode = _PLAIN.get(type(value))
        document[name] = value if encode is None else encode(value)
    return cast("Kind", document)


_PLAIN: Mapping[type, Callable[..., object]] = {
    datetime: to_time,
    date: date.isoformat,
    tuple: list,
}
