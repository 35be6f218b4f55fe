"""The job desk: where the command line hands in a scan and asks how it goes.

`JobDesk` is the seam. `HttpDesk` speaks the job API of a running server; `StoreDesk`
(`store_desk.py`) uses the control store of this machine directly. Both answer with the job
document of the interface.
"""

from collections.abc import Mapping
from typing import Any, Protocol
from urllib.parse import quote

import httpx2

from pipelines.documents.videos import Document
from warehouse.records.errors import JobNotFoundError, SametrackError

JOBS_PATH = "/api/v1/vidplat/app/v3/music_collection_jobs"
TIMEOUT_S = 30.0
FIRST_ERROR_STATUS = 400


class JobDesk(Protocol):
    """Hand in, look, cancel. Documents are those of the job endpoints' `data`."""

    def create(self, text: str, parameters: Mapping[str, object]) -> Document:
        """Hand in a scan, or join an equal one, or get a stored result."""

    def job(self, job_id: str) -> Document:
        """The job now; raises `JobNotFoundError`."""

    def cancel(self, job_id: str) -> Document:
        """Ask for the job to end; raises `JobNotFoundError`."""


def job_body(text: str, parameters: Mapping[str, object]) -> dict[str, object]:
    """The body of a job: about a track, or with `search_only` about a song's name alone."""
    return {"keyword" if parameters.get("search_only") else "input": text, **parameters}


class ServiceError(SametrackError):
    """The service answered with an error; the document is its own `data.error`."""

    def __init__(self, document: Mapping[str, Any], *, status: int) -> None:
        super().__init__(
            str(document.get("detail") or f"the service answered with status {status}"),
            hint=document.get("hint"),
            retry_after=document.get("retry_after"),
        )
        self.type = str(document.get("type") or "internal_error")  # type: ignore[misc]  # the word of the answer


class UnreachableServiceError(SametrackError):
    """No service answers at the address."""

    type = "service_unreachable"


class HttpDesk:
    """The job API of a server, by HTTP."""

    def __init__(self, base_url: str, *, token: str | None = None) -> None:
        self.base_url = base_url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def create(self, text: str, parameters: Mapping[str, object]) -> Document:
        """POST the job; the answer is 200 with the stored job or 202 with the new one."""
        return self._ask("POST", JOBS_PATH, json=job_body(text, parameters))

    def job(self, job_id: str) -> Document:
        """GET the job."""
        return self._ask("GET", f"{JOBS_PATH}/{quote(job_id, safe='')}")

    def cancel(self, job_id: str) -> Document:
        """DELETE the job."""
        return self._ask("DELETE", f"{JOBS_PATH}/{quote(job_id, safe='')}")

    def is_there(self) -> bool:
        """True when a Sametrack service answers, whatever it says to the question."""
        try:
            return "router" in self._send("GET", f"{JOBS_PATH}/none", timeout_s=1.0).json()
        except (httpx2.HTTPError, ValueError):
            return False

    def _send(
        self, method: str, path: str, *, json: object = None, timeout_s: float = TIMEOUT_S
    ) -> httpx2.Response:
        """One connection per call, so that a desk is nothing that must be closed."""
        with httpx2.Client(headers=self._headers, timeout=timeout_s) as client:
            return client.request(method, f"{self.base_url}{path}", json=json)

    def _ask(self, method: str, path: str, *, json: object = None) -> Document:
        try:
            answer = self._send(method, path, json=json)
            envelope = answer.json()
        except httpx2.HTTPError as error:
            raise UnreachableServiceError(
                f"no service answers at {self.base_url} ({type(error).__name__})",
                hint="start it with `sametrack up`, or leave --api away to scan without it",
            ) from error
        except ValueError as error:
            raise UnreachableServiceError(
                f"what answers at {self.base_url} is not a Sametrack service",
                hint="check the address given with --api",
            ) from error
        return _data(envelope, answer.status_code)


def _data(envelope: Any, status: int) -> Document:
    data = envelope.get("data") if isinstance(envelope, dict) else None
    if isinstance(data, dict) and status < FIRST_ERROR_STATUS:
        return data
    document = data.get("error") if isinstance(data, dict) else None
    document = document if isinstance(document, dict) else {}
    if document.get("type") == JobNotFoundError.type:
        raise JobNotFoundError(str(document.get("detail")), hint=document.get("hint"))
    raise ServiceError(document, status=status)
