"""A job client that uses the job API of a running service."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Self

import httpx2

from api.cli.job_client import build_job_body
from api.client import ApiRequest, Client, Connection, ConnectionFailedError, ServiceError
from api.client.answers import JobData
from api.client.operations import Operations
from warehouse.records.errors import JobNotFoundError, SametrackError
from warehouse.records.values import Document

TIMEOUT_S = 30.0
PROBE_TIMEOUT_S = 1.0


class JobServiceError(SametrackError):
    """The service returned an error response, whose type this error has."""

    def __init__(self, error: ServiceError) -> None:
        super().__init__(error.detail, hint=error.hint, retry_after=error.retry_after)
        self.type = error.type  # type: ignore[misc]  # the type in the response


class UnreachableServiceError(SametrackError):
    """No service is reachable at the address."""

    type = "service_unreachable"


class HttpJobClient:
    """A `JobClient` over one connection. Close it, or use it as a context manager."""

    def __init__(self, base_url: str, *, token: str | None = None) -> None:
        self._connection = Connection(base_url=base_url, token=token, timeout_s=TIMEOUT_S)
        self._client = Client(self._connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._client.close()

    def create(self, text: str, parameters: Mapping[str, object]) -> Document:
        """POST the job. The status is 200 for a stored result, 202 for a new job."""
        # The body may be a search by name, which has an operation of its own at the same address.
        operation = Operations.create_job
        body = build_job_body(text, parameters)
        return self._send(ApiRequest(operation.method, operation.path, body=body, is_safe=False))

    def job(self, job_id: str) -> Document:
        """GET the job."""
        return self._send(Operations.job.request(job_id))

    def cancel(self, job_id: str) -> Document:
        """DELETE the job."""
        return self._send(Operations.cancel_job.request(job_id))

    def is_there(self) -> bool:
        """Return True if a Sametrack service responds, with whatever status."""
        with Client(replace(self._connection, timeout_s=PROBE_TIMEOUT_S, retries=0)) as client:
            try:
                client.job("none")
            except ServiceError:
                return True
            except ConnectionFailedError:
                return False
        return True

    def _send(self, request: ApiRequest[JobData]) -> Document:
        """Send a request; turn the errors of the client into errors of the product."""
        try:
            return dict(self._client.send(request).data)
        except ServiceError as error:
            if error.type == JobNotFoundError.type:
                raise JobNotFoundError(error.detail, hint=error.hint) from error
            raise JobServiceError(error) from error
        except ConnectionFailedError as error:
            # Without such a cause something answered, but it was not a Sametrack service.
            is_silent = isinstance(error.__cause__, httpx2.HTTPError)
            raise UnreachableServiceError(
                str(error),
                hint="start it with `sametrack up`, or omit --api to scan without a service"
                if is_silent
                else "check the address given with --api",
            ) from error
