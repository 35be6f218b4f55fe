"""What can go wrong for a caller of the service, by name.

`ServiceError` and its kinds: the service answered, and said no. `NoAnswerError`: it did not
answer, or something else answers there. `JobFailedError`, `JobCancelledError`, `WaitTimeoutError`:
a job did not come to a result. All are `ClientError`.
"""

from collections.abc import Mapping
from typing import Any


class ClientError(Exception):
    """Root of everything that this client raises on purpose."""


class NoAnswerError(ClientError):
    """Nothing answers at the address, the connection broke, or it is no Sametrack service."""


class ServiceError(ClientError):
    """The service said no.

    Attributes:
        status: HTTP status.
        type: The stable word for the cause; never translated.
        detail: What was wrong with which value.
        hint: What to do next.
        retry_after: Seconds after which the same call may succeed, where known.
        request_id: Names this request in the log of the service.
        message: The kind of the failure in English.
        message_zh: The same in Chinese.
        upstream: What the platform answered, where it was asked: `surface`, `reason`, `status`.
    """

    def __init__(self, status: int, envelope: Mapping[str, Any]) -> None:
        error = envelope["data"]["error"]
        super().__init__(f"{error['type']}: {error['detail']}")
        self.status = status
        self.type: str = error["type"]
        self.detail: str = error["detail"]
        self.hint: str | None = error["hint"]
        self.retry_after: float | None = error["retry_after"]
        self.upstream: Mapping[str, Any] | None = error["upstream"]
        self.request_id: str = envelope["request_id"]
        self.message: str = envelope["message"]
        self.message_zh: str = envelope["message_zh"]


class BadRequestError(ServiceError):
    """What was given cannot be used (400, 413, 415, 422)."""


class AccessError(ServiceError):
    """The token is missing or wrong, or this caller may not ask (401, 403, 421)."""


class MissingError(ServiceError):
    """What was asked for does not exist, or is kept no longer (404, 405)."""


class TooManyRequestsError(ServiceError):
    """Asked too often (429); `retry_after` says how long to wait."""


class UnsupportedError(ServiceError):
    """Not to be had from the chosen source, or protected by the platform (501)."""


class PlatformError(ServiceError):
    """The public platform or chart gave no data (502); `type` says how it refused."""


class UnavailableError(ServiceError):
    """The service cannot work now (503): no profile, no store, no worker, no room."""


class JobFailedError(ClientError):
    """The job that was waited for has failed; `job` is its last document."""

    def __init__(self, job: Mapping[str, Any]) -> None:
        error = job["error"] or {}
        super().__init__(f"job {job['job_id']} failed: {error.get('type')}: {error.get('detail')}")
        self.job = job
        self.type: str | None = error.get("type")
        self.detail: str | None = error.get("detail")
        self.hint: str | None = error.get("hint")


class JobCancelledError(ClientError):
    """Somebody cancelled the job that was waited for; `job` is its last document."""

    def __init__(self, job: Mapping[str, Any]) -> None:
        super().__init__(f"job {job['job_id']} was cancelled")
        self.job = job


class WaitTimeoutError(ClientError):
    """The job had not ended in the time that was given; it goes on. `job` is its last document."""

    def __init__(self, job: Mapping[str, Any] | None, *, job_id: str, timeout_s: float) -> None:
        super().__init__(f"job {job_id} has not ended within {timeout_s:g} s")
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


def to_error(status: int, envelope: Mapping[str, Any]) -> ServiceError:
    """The error of a failed answer, of the kind of its status."""
    return _BY_STATUS.get(status, ServiceError)(status, envelope)
