"""What comes back: the envelope as an `Answer`, a failure as an error. Pure.

Also what follows from an answer: whether and when to ask again, how the job stands.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import httpx2

from .connection import Connection
from .errors import JobCancelledError, JobFailedError, NoAnswerError, ServiceError, to_error
from .requests.operations import Ask
from .types.answers import JobData

FIRST_FAILURE = 400
TOO_MANY, UNAVAILABLE = 429, 503
FINAL = frozenset({"completed", "failed", "cancelled"})
POLL_S = 1.0


@dataclass(frozen=True, slots=True)
class Answer[Data]:
    """An answer of the service.

    Attributes:
        data: The payload of the operation.
        status: HTTP status: 200, or 202 where a job was started.
        request_id: Names this request in the log of the service.
        params: The parameters as the service understood them.
        message: What happened, in English.
        message_zh: The same in Chinese.
        time_stamp: Unix seconds of the answer.
        retry_after: Seconds until asking again makes sense; None where nothing is awaited.
        envelope: The whole document as it came.
    """

    data: Data
    status: int
    request_id: str
    params: Mapping[str, Any]
    message: str
    message_zh: str
    time_stamp: int
    retry_after: float | None
    envelope: Mapping[str, Any]


def to_answer[Data](_ask: Ask[Data], response: httpx2.Response) -> Answer[Data]:
    """The answer of a service that said yes.

    Raises:
        ServiceError: It said no.
        NoAnswerError: What answered is no Sametrack service.
    """
    envelope = _envelope(response)
    if response.status_code >= FIRST_FAILURE:
        raise to_error(response.status_code, envelope)
    return Answer(
        data=cast(Data, envelope["data"]),
        status=response.status_code,
        request_id=envelope["request_id"],
        params=envelope["params"],
        message=envelope["message"],
        message_zh=envelope["message_zh"],
        time_stamp=envelope["time_stamp"],
        retry_after=retry_after(response),
        envelope=envelope,
    )


def retry_after(response: httpx2.Response) -> float | None:
    """Seconds of the Retry-After header."""
    said = response.headers.get("Retry-After", "")
    return float(said) if said.isdigit() else None


def pause_before_again(
    ask: Ask[Any], error: Exception, *, attempt: int, limits: Connection
) -> float | None:
    """Seconds to wait before the same request is sent once more; None: it must not be.

    A request that changes something goes again only where it surely was not carried out: no
    connection came about, or the service refused it at the door for being too many.
    """
    pause = _pause(ask, error, attempt) if attempt < limits.retries else None
    return pause if pause is not None and pause <= limits.longest_pause_s else None


def _pause(ask: Ask[Any], error: Exception, attempt: int) -> float | None:
    if isinstance(error, httpx2.TransportError):
        never_sent = isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout)
        return 0.2 * 2.0**attempt if ask.is_safe or never_sent else None
    if not isinstance(error, ServiceError) or error.retry_after is None:
        return None
    may_again = error.status == TOO_MANY or (ask.is_safe and error.status == UNAVAILABLE)
    return error.retry_after if may_again else None


def to_no_answer(base_url: str, error: httpx2.HTTPError) -> NoAnswerError:
    """The one error for everything that keeps an answer away."""
    return NoAnswerError(f"no service answers at {base_url} ({type(error).__name__})")


def ended(job: JobData) -> JobData | None:
    """A job that has come to its result; None while it goes on.

    Raises:
        JobFailedError: It failed.
        JobCancelledError: It was cancelled.
    """
    if job["status"] == "failed":
        raise JobFailedError(job)
    if job["status"] == "cancelled":
        raise JobCancelledError(job)
    return job if job["status"] in FINAL else None


def _envelope(response: httpx2.Response) -> Mapping[str, Any]:
    try:
        document = response.json()
    except ValueError as error:
        raise _stranger(response) from error
    if not isinstance(document, dict) or not document.keys() >= {"code", "request_id", "data"}:
        raise _stranger(response)
    return document


def _stranger(response: httpx2.Response) -> NoAnswerError:
    address = f"{response.request.url.scheme}://{response.request.url.netloc.decode()}"
    return NoAnswerError(f"what answers at {address} is not a Sametrack service")
