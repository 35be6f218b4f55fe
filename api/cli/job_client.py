"""The interface through which commands submit, read and cancel scans.

`HttpJobClient` (`http_job_client.py`) uses the job API of a running service; `LocalJobClient`
(`local_job_client.py`) uses the control store of this machine. Both return the job document of the
HTTP interface.
"""

from collections.abc import Iterable, Mapping
from typing import Protocol

from warehouse.records.values import Document


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


def expand_job_id(beginning: str, job_ids: Iterable[str]) -> str:
    """Expand the prefix of an id if exactly one of these jobs has it; else return it as given."""
    matches = [job_id for job_id in job_ids if beginning and job_id.startswith(beginning)]
    return matches[0] if len(matches) == 1 else beginning
