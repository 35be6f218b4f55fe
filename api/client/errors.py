"""Errors of the client. All of them are a `ClientError`.

`ServiceError` and its subclasses: the service returned an error response.
`ConnectionFailedError`: the service is not reachable. `JobFailedError`, `JobCancelledError`,
`WaitTimeoutError`: a job has no result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypedDict, cast

if TYPE_CHECKING:
    from .answers import ErrorDocument, JobData, UpstreamResponse


class ResponseEnvelope(TypedDict):
    """The top level of every response."""

    code: int
    request_id: str
    message: str
    message_zh: str
    time: str
    time_stamp: int
    time_zone: str
    docs: str
    router: str
    params: dict[str, object]
    data: object


class _ErrorData(TypedDict):
    error: ErrorDocument


class ClientError(Exception):
    """Base class of all errors of this client."""


class ConnectionFailedError(ClientError):
    """The service is unreachable, the connection broke, or it is not a Sametrack service."""


class ServiceError(ClientError):
    """The service returned an error response.

    Attributes:
        status: HTTP status.
        type: Stable error type, never translated.
        detail: What is wrong, with the value.
        hint: What to do.
        retry_after: Seconds after which a retry may succeed, if known.
        request_id: Id of the request in the service log.
        message: Summary in English.
        message_zh: Summary in Chinese.
        upstream: Response of the platform, if any: `surface`, `reason`, `status`.
    """

    def __init__(self, status: int, envelope: ResponseEnvelope) -> None:
        error = cast(_ErrorData, envelope["data"])["error"]
        super().__init__(f"{error['type']}: {error['detail']}")
        self.status = status
        self.type = error["type"]
        self.detail = error["detail"]
        self.hint = error["hint"]
        self.retry_after = error["retry_after"]
        self.upstream: UpstreamResponse | None = error["upstream"]
        self.request_id = envelope["request_id"]
        self.message = envelope["message"]
        self.message_zh = envelope["message_zh"]


class BadRequestError(ServiceError):
    """The request is invalid (400, 413, 415, 422)."""


class AccessError(ServiceError):
    """The token is missing or wrong, or access is not allowed (401, 403, 421)."""


class MissingError(ServiceError):
    """The resource does not exist or has expired (404, 405)."""


class TooManyRequestsError(ServiceError):
    """Too many requests (429); `retry_after` is the time to wait."""


class UnsupportedError(ServiceError):
    """Not supported by the chosen provider, or protected by the platform (501)."""


class PlatformError(ServiceError):
    """The platform or the chart returned no data (502); `type` is the cause."""


class UnavailableError(ServiceError):
    """The service is unavailable (503): no profile, store, worker or disk space."""


class JobFailedError(ClientError):
    """The job failed; `job` is its last document."""

    def __init__(self, job: JobData) -> None:
        error = job["error"]
        self.job = job
        self.type = error["type"] if error else None
        self.detail = error["detail"] if error else None
        self.hint = error["hint"] if error else None
        super().__init__(f"job {job['job_id']} failed: {self.type}: {self.detail}")


class JobCancelledError(ClientError):
    """The job was cancelled; `job` is its last document."""

    def __init__(self, job: JobData) -> None:
        super().__init__(f"job {job['job_id']} was cancelled")
        self.job = job


class WaitTimeoutError(ClientError):
    """The job did not end in time and continues; `job` is its last document."""

    def __init__(self, job: JobData | None, *, job_id: str, timeout_s: float) -> None:
        super().__init__(f"job {job_id} did not end within {timeout_s:g} s")
        self.job = job


_BY_STATUS: Mapping[int, type[ServiceError]] = {
    400: BadRequestError,
    401: AccessError,
    403: AccessError,
    404: MissingError,
    405: MissingError,
    413: BadRequestError,
    415: BadRequestError,
    421: AccessError,
    422: BadRequestError,
    429: TooManyRequestsError,
    501: UnsupportedError,
    502: PlatformError,
    503: UnavailableError,
}


def to_error(status: int, envelope: ResponseEnvelope) -> ServiceError:
    """Return the error for an error response, of the class for its status."""
    return _BY_STATUS.get(status, ServiceError)(status, envelope)
