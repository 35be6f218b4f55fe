"""Converts HTTP responses to an `ApiResponse` or an error.

Also: delays before a retry, the cursor of the next page, and a parser of job events. Nothing here
reads or writes; both clients share it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, cast

import httpx2

from .connection import Connection
from .errors import (
    ConnectionFailedError,
    JobCancelledError,
    JobFailedError,
    ResponseEnvelope,
    ServiceError,
    to_error,
)
from .request import ApiRequest

if TYPE_CHECKING:
    from .answers import JobData

FINAL = frozenset({"completed", "failed", "cancelled"})
POLL_S = 1.0
OUTAGE_POLLS = 45
"""Polls of a watched job that may fail in a row. Each takes up to 1.6 s with its retries."""
_LINE_END = re.compile(r"\r\n|\n|\r")
"""Line ends of an event stream. `str.splitlines` knows others, which texts of jobs may contain."""


@dataclass(frozen=True, slots=True)
class ApiResponse[Data]:
    """A response of the service.

    Attributes:
        data: The payload of the operation.
        status: HTTP status: 200, or 202 where a job was started.
        request_id: Id of the request in the service log.
        params: The parameters as interpreted by the service.
        message: Summary in English.
        message_zh: Summary in Chinese.
        time_stamp: Time of the response in Unix seconds.
        retry_after: Seconds to wait before polling again; None if there is nothing to poll.
        envelope: The complete response document.
    """

    data: Data
    status: int
    request_id: str
    params: Mapping[str, object]
    message: str
    message_zh: str
    time_stamp: int
    retry_after: float | None
    envelope: ResponseEnvelope


def to_api_response[Data](
    _request: ApiRequest[Data], response: httpx2.Response
) -> ApiResponse[Data]:
    """Convert a successful HTTP response; the request only says the type of its data.

    Raises:
        ServiceError: It is an error response.
        ConnectionFailedError: It does not come from a Sametrack service.
    """
    try:
        document: object = response.json()
    except ValueError as error:
        raise _not_sametrack(response) from error
    if not isinstance(document, dict) or not document.keys() >= {"code", "request_id", "data"}:
        raise _not_sametrack(response)
    envelope = cast("ResponseEnvelope", document)
    if response.status_code >= HTTPStatus.BAD_REQUEST:
        raise to_error(response.status_code, envelope)
    return ApiResponse(
        data=cast(Data, envelope["data"]),
        status=response.status_code,
        request_id=envelope["request_id"],
        params=envelope["params"],
        message=envelope["message"],
        message_zh=envelope["message_zh"],
        time_stamp=envelope["time_stamp"],
        retry_after=parse_retry_after(response),
        envelope=envelope,
    )


def parse_retry_after(response: httpx2.Response) -> float | None:
    """Return the seconds of the Retry-After header; None without one, or if it is a date."""
    value = response.headers.get("Retry-After", "")
    return float(value) if value.isdigit() else None


def retry_delay(
    request: ApiRequest[object],
    error: Exception,
    *,
    attempt: int,
    limits: Connection,
    left_s: float,
) -> float | None:
    """Return the seconds to wait before a retry; None if the request must not be retried.

    A retry starts only within the `left_s` that the request still has. A request with side effects
    is retried only if it was certainly not executed, because the connection failed or the service
    rejected it with 429.
    """
    if attempt >= limits.retries:
        return None
    if isinstance(error, httpx2.TransportError):
        may_have_run = not isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout)
        pause: float | None = 0.2 * 2.0**attempt
    elif isinstance(error, ServiceError):
        may_have_run = error.status != HTTPStatus.TOO_MANY_REQUESTS
        pause = error.retry_after
    else:
        return None
    if pause is None or (may_have_run and not request.is_safe):
        return None
    # A pause that outlasts the time limit would only delay the same error.
    if pause > limits.longest_pause_s or pause >= left_s:
        return None
    return pause


def to_connection_error(
    base_url: str, error: httpx2.HTTPError, *, attempts: int, spent_s: float
) -> ConnectionFailedError:
    """Convert a transport error."""
    # Attempts and time distinguish a service that hangs from one that is not there.
    tries = "1 attempt" if attempts == 1 else f"{attempts} attempts"
    measured = f"{type(error).__name__}, {tries} in {spent_s:.1f} s"
    if isinstance(error, httpx2.ReadTimeout):
        return ConnectionFailedError(f"The service at {base_url} did not answer ({measured})")
    return ConnectionFailedError(f"No service is reachable at {base_url} ({measured})")


def completed_job(job: JobData) -> JobData | None:
    """Return the job if it is completed; None while it runs.

    Raises:
        JobFailedError: It failed.
        JobCancelledError: It was cancelled.
    """
    if job["status"] == "failed":
        raise JobFailedError(job)
    if job["status"] == "cancelled":
        raise JobCancelledError(job)
    return job if job["status"] == "completed" else None


def next_cursor(page: Mapping[str, object], *, current: int) -> int | None:
    """Return the cursor of the next page of a list; None after the last one.

    An unchanged cursor also ends the list: it would return the same page forever.
    """
    cursor = page.get("max_cursor", page.get("cursor"))  # lists of posts call it `max_cursor`
    return cursor if page["has_more"] and isinstance(cursor, int) and cursor != current else None


@dataclass(slots=True)
class EventText:
    """Parses the text of server-sent events into job documents. The text may be split anywhere.

    Ignores comments and every field but `data`.
    """

    _line_parts: list[str] = field(default_factory=list)
    _is_after_cr: bool = False
    _data_lines: list[str] = field(default_factory=list)

    def feed(self, text: str) -> Iterator[JobData | None]:
        """Yield once for each completed line: the job document that it ends, or None.

        None is a sign of life: a comment, or a line inside an event.

        Raises:
            ValueError: An event is not a job document.
        """
        # "\r\n" is one line end, also if a part ends between both characters.
        if self._is_after_cr:
            text = text.removeprefix("\n")
        self._is_after_cr = text.endswith("\r")
        first, *others = _LINE_END.split(text)
        self._line_parts.append(first)
        for rest in others:
            line, self._line_parts = "".join(self._line_parts), [rest]
            if line.startswith("data:"):
                self._data_lines.append(line.removeprefix("data:").removeprefix(" "))
            # An empty line ends an event; comments keep the connection open and have no data.
            if line or not self._data_lines:
                yield None
                continue
            event, self._data_lines = "\n".join(self._data_lines), []
            document: object = json.loads(event)
            if not isinstance(document, dict) or "status" not in document:
                raise ValueError("the event is not a job document")
            yield cast("JobData", document)


def _not_sametrack(response: httpx2.Response) -> ConnectionFailedError:
    address = f"{response.request.url.scheme}://{response.request.url.netloc.decode()}"
    return ConnectionFailedError(f"The server at {address} is not a Sametrack service")
