"""A catalogue, its settings and its tracks as the control store keeps them. Times are UTC.

What is due is decided in `pipelines/catalog/rules`; the scans themselves are jobs.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import datetime

from warehouse.records.values import Document, ReadOnlyDocument

MAX_TRACKS = 10_000
MAX_PRIORITY = 1000
"""Priorities are whole numbers from -1000 to 1000; a higher one is scanned earlier."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogSettings:
    """How a catalogue is scanned. Budgets count per day (UTC); None: no limit.

    `fresh_days`: a result older than this is due again. `parameters` are those given for its scans.
    """

    fresh_days: float = 7.0
    tracks_per_day: int | None = None
    requests_per_day: int | None = None
    parameters: ReadOnlyDocument = field(default_factory=dict)

    def to_document(self) -> Document:
        """Return plain JSON values, in the order of the fields."""
        return {**asdict(self), "parameters": dict(self.parameters)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """A stored catalogue."""

    name: str
    settings: CatalogSettings
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedTrack:
    """A track as an import gives it.

    `key` identifies the track within its catalogue: `music:<id>`, `video:<id>`, `short:<address>`.
    `columns` are all columns of its line, by name, as text.
    """

    key: str
    input: str
    label: str | None = None
    priority: int = 0
    columns: ReadOnlyDocument = field(default_factory=dict)


type TrackUpdate = Callable[[ImportedTrack, ImportedTrack], ImportedTrack]
"""Returns a stored track with what a new import states. It runs within the transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogTrack:
    """A track of a catalogue, and what its scans have come to.

    Attributes:
        given: The track as it was imported.
        position: Its place in the catalogue, from 0, in the order of the imports.
        submission_count: How many scans were submitted; the next job id is derived from it.
        job_id: The job under way; None between two.
        charged_day: Day since 1970 (UTC) of the newest submission that cost a scan.
        charged_requests: Requests of the ended scans that were submitted on that day.
        charged_scans: How many scans were submitted on that day.
        music_id: The music id that the input was resolved to; None before the first result.
        result_job_id: The job of the newest result.
        result_at: When that job ended.
        previous_job_id: The job of the result before it, for what has changed.
        failed_at: When the newest scan failed; None if it did not.
        error: Why it failed.
    """

    given: ImportedTrack
    position: int
    submission_count: int = 0
    job_id: str | None = None
    charged_day: int | None = None
    charged_requests: int = 0
    charged_scans: int = 0
    music_id: str | None = None
    result_job_id: str | None = None
    result_at: datetime | None = None
    previous_job_id: str | None = None
    failed_at: datetime | None = None
    error: Document | None = None
