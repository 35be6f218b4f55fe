"""Job clients of the command line: submit, read and cancel scans.

`JobClient` is the protocol. `HttpJobClient` uses the job API of a running service; `LocalJobClient`
(`local_job_client.py`) uses the control store of this machine. Both return the job document of the
HTTP interface.
"""

import ssl
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Protocol
from urllib.parse import quote, urlsplit

import httpx2

from warehouse.records.errors import JobNotFoundError, SametrackError
from warehouse.records.values import Document

JOBS_PATH = "/api/v1/vidplat/app/v3/music_collection_jobs"
TIMEOUT_S = 30.0
FIRST_ERROR_STATUS = 400


class JobClient(Protocol):
    """Submits, reads and cancels jobs. Documents equal the `data` of the job endpoints."""

    def create(self, text: str, parameters: Mapping[str, object]) -> Document:
        """Submit a scan, join an identical running one, or return a stored result."""

    def job(self, job_id: str) -> Document:
        """Return the job; raises `JobNotFoundError`."""

    def cancel(self, job_id: str) -> Document:
        """Request cancellation; raises `JobNotFoundError`."""


def build_job_body(text: str, parameters: Mapping[str, object]) -> dict[str, object]:
    """Return the request body of a job: a track, or with `search_only` the name of a song."""
    return {"keyword" if parameters.get("search_only") else "input": text, **parameters}


class JobServiceError(SametrackError):
    """The service returned an error response; `document` is its `data.error`."""

    def __init__(self, document: Mapping[str, Any], *, status: int) -> None:
        super().__init__(
            str(document.get("detail") or f"the service returned status {status}"),
            hint=document.get("hint"),
            retry_after=document.get("retry_after"),
        )
        self.type = str(document.get("type") or "internal_error")  # type: ignore[misc]  # the type in the response


class UnreachableServiceError(SametrackError):
    """No service is reachable at the address."""

    type = "service_unreachable"


class HttpJobClient:
    """A job client that uses the job API of a service."""

    def __init__(self, base_url: str, *, token: str | None = None) -> None:
        self.base_url = base_url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def create(self, text: str, parameters: Mapping[str, object]) -> Document:
        """POST the job. The status is 200 for a stored result, 202 for a new job."""
        return self._ask("POST", JOBS_PATH, json=build_job_body(text, parameters))

    def job(self, job_id: str) -> Document:
        """GET the job."""
        return self._ask("GET", f"{JOBS_PATH}/{quote(job_id, safe='')}")

    def cancel(self, job_id: str) -> Document:
        """DELETE the job."""
        return self._ask("DELETE", f"{JOBS_PATH}/{quote(job_id, safe='')}")

    def is_there(self) -> bool:
        """Return True if a Sametrack service responds, with whatever status."""
        try:
            return "router" in self._send("GET", f"{JOBS_PATH}/none", timeout_s=1.0).json()
        except (httpx2.HTTPError, ValueError):
            return False

    def _send(
        self, method: str, path: str, *, json: object = None, timeout_s: float = TIMEOUT_S
    ) -> httpx2.Response:
        """Send one request on its own connection, so that the client needs no close."""
        with httpx2.Client(
            headers=self._headers, timeout=timeout_s, verify=self._authorities
        ) as client:
            return client.request(method, f"{self.base_url}{path}", json=json)

    @cached_property
    def _authorities(self) -> ssl.SSLContext | bool:
        """The certificate authorities, loaded once: at each poll they cost more than the rest."""
        return urlsplit(self.base_url).scheme != "http" and httpx2.create_ssl_context()

    def _ask(self, method: str, path: str, *, json: object = None) -> Document:
        try:
            response = self._send(method, path, json=json)
            envelope = response.json()
        except httpx2.HTTPError as error:
            raise UnreachableServiceError(
                f"No service is reachable at {self.base_url} ({type(error).__name__})",
                hint="start it with `sametrack up`, or omit --api to scan without a service",
            ) from error
        except ValueError as error:
            raise UnreachableServiceError(
                f"The server at {self.base_url} is not a Sametrack service",
                hint="check the address given with --api",
            ) from error
        return _unwrap(envelope, response.status_code)


def _unwrap(envelope: Any, status: int) -> Document:
    data = envelope.get("data") if isinstance(envelope, dict) else None
    if isinstance(data, dict) and status < FIRST_ERROR_STATUS:
        return data
    document = data.get("error") if isinstance(data, dict) else None
    document = document if isinstance(document, dict) else {}
    if document.get("type") == JobNotFoundError.type:
        raise JobNotFoundError(str(document.get("detail")), hint=document.get("hint"))
    raise JobServiceError(document, status=status)
