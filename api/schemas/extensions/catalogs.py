"""Schemas for catalogues."""

from typing import Annotated

from pydantic import Field

from api.responses.documents import ErrorDocument
from pipelines.catalog.rules import ProblemReason, TrackState
from pipelines.documents.fields import ClosedDocument, Count, OptionalCount, Timestamp

_OptionalTime = Annotated[Timestamp | None, Field(description="ISO 8601, UTC; null: not yet")]


class CatalogSettingsDocument(ClosedDocument):
    """How a catalogue is scanned."""

    fresh_days: Annotated[float, Field(description="days after which a result is due again")]
    tracks_per_day: Annotated[int | None, Field(description="scans a day (UTC); null: no limit")]
    requests_per_day: Annotated[
        int | None, Field(description="requests a day (UTC); null: no limit")
    ]
    parameters: Annotated[dict[str, object], Field(description="parameters for its scans")]


class CatalogSpending(ClosedDocument):
    """What the scans submitted today (UTC) have cost, running ones included."""

    tracks: Count
    requests: Count


class CatalogDocument(ClosedDocument):
    """A catalogue and where it stands."""

    name: str
    settings: CatalogSettingsDocument
    created_at: Timestamp
    updated_at: Timestamp
    read_at: Timestamp
    track_count: Count
    states: Annotated[dict[TrackState, int], Field(description="tracks by state")]
    due_count: Annotated[Count, Field(description="tracks that a run would scan now")]
    spent_today: CatalogSpending
    same_music: Annotated[
        dict[str, list[str]], Field(description="tracks that turned out to be one music id")
    ]
    is_running: Annotated[bool, Field(description="whether a run was requested or is under way")]
    is_demo_data: bool


class CatalogTrackFigures(ClosedDocument):
    """What all scans of a track have found, also those that another request started."""

    title: str | None
    artist: str | None
    confirmed_video_count: Count
    account_count: Count
    music_id_count: Annotated[Count, Field(description="music ids with the recording")]
    music_id_estimate: Annotated[
        float | None, Field(description="music ids a guest could reach; null: not estimated")
    ]
    music_id_lower: float | None
    music_id_upper: float | None
    variant_video_count: Count
    digg_count: Annotated[int | None, Field(description="likes of the confirmed videos")]
    newest_job_id: Annotated[str | None, Field(description="job of the newest scan")]
    last_result_at: _OptionalTime


class CatalogTrackDocument(ClosedDocument):
    """A track of a catalogue."""

    key: str
    input: str
    label: str | None
    priority: int
    columns: Annotated[dict[str, object], Field(description="all columns of its line")]
    state: TrackState
    music_id: str | None
    job_id: Annotated[str | None, Field(description="job under way")]
    stage: Annotated[str | None, Field(description="stage of that job")]
    result_job_id: Annotated[str | None, Field(description="job of the newest result")]
    result_at: _OptionalTime
    previous_job_id: Annotated[str | None, Field(description="job of the result before it")]
    failed_at: _OptionalTime
    error: ErrorDocument | dict[str, object] | None
    title: Annotated[
        str | None, Field(description="`label`, else the title that scans read; null: unknown")
    ]
    figures: Annotated[
        CatalogTrackFigures | None, Field(description="null: no scan of the track has a result")
    ]


class CatalogList(ClosedDocument):
    """All catalogues, by name."""

    catalogs: list[CatalogDocument]
    returned_count: Count
    is_demo_data: bool


class CatalogTracks(ClosedDocument):
    """A page of the tracks of a catalogue, in the order of the imports."""

    name: str
    tracks: list[CatalogTrackDocument]
    returned_count: Count
    total_count: Annotated[Count, Field(description="tracks in these states")]
    next_cursor: Annotated[int | None, Field(description="null: no further page")]
    is_demo_data: bool


class ImportProblemDocument(ClosedDocument):
    """A line that was not imported, and why."""

    line: int
    input: str | None
    reason: ProblemReason
    message: str


class DuplicateLineDocument(ClosedDocument):
    """A line that names the track of an earlier one."""

    line: int
    first_line: int
    input: str


class ImportedListDocument(ClosedDocument):
    """A list of songs that a line named."""

    line: int
    input: str
    title: str | None
    song_count: Count
    stated_count: OptionalCount


class CatalogImport(ClosedDocument):
    """What an import did; with `is_dry_run`, what it would do."""

    name: str
    is_dry_run: bool
    track_count: Annotated[Count, Field(description="tracks of the catalogue, after the import")]
    new_count: Count
    updated_count: Count
    duplicates: list[DuplicateLineDocument]
    problems: list[ImportProblemDocument]
    lists: list[ImportedListDocument]
    is_demo_data: bool


class CatalogRemoved(ClosedDocument):
    """A removed catalogue. Jobs go on; results and observations stay."""

    name: str
    removed_count: Annotated[Count, Field(description="its tracks")]
    is_demo_data: bool


class CatalogCancelled(ClosedDocument):
    """A stopped run."""

    name: str
    cancelled_count: Annotated[Count, Field(description="jobs that were cancelled")]
    is_demo_data: bool
