"""Schemas for watchlists."""

from typing import Annotated

from pydantic import Field

from api.responses.documents import ErrorDocument
from pipelines.documents.fields import ClosedDocument, Count, OptionalCount, Timestamp
from warehouse.records.jobs import Origin
from warehouse.records.watchlists import EntryCheckStatus, RunStatus, WatchlistEntryKind

OptionalTimestamp = Annotated[Timestamp | None, Field(description="ISO 8601, UTC; null: not yet")]


class WatchEntry(ClosedDocument):
    """One entry of a watchlist."""

    kind: WatchlistEntryKind
    input: Annotated[str, Field(description="input as given")]


class WatchThresholds(ClosedDocument):
    """Smallest changes that a digest reports; null disables a threshold."""

    velocity: float | None
    rank_change: int | None
    new_music_id: bool


class WatchFiles(ClosedDocument):
    """Paths of the digest files, relative to the folder of digests."""

    json: str
    html: str


class WebhookOutcome(ClosedDocument):
    """Outcome of the webhook call."""

    host: Annotated[str | None, Field(description="null if the setting has none")]
    status: int | None
    error: Annotated[
        str | None,
        Field(
            description="`refused`, `unreachable`, `timeout`, `special_address`, `invalid_setting`"
        ),
    ]


class WatchRunDocument(ClosedDocument):
    """One run of a watchlist."""

    run_id: str
    watchlist: str
    status: RunStatus
    origin: Origin
    due_at: Timestamp
    began_at: OptionalTimestamp
    ended_at: OptionalTimestamp
    missed_count: Annotated[Count, Field(description="earlier due times without a run")]
    outcome: str | None
    change_count: OptionalCount
    files: WatchFiles | None
    told: WebhookOutcome | None


class WatchRunEntry(WatchEntry):
    """Outcome of one entry of a run."""

    status: EntryCheckStatus
    subject: Annotated[str | None, Field(description="id that the input was resolved to")]
    job_id: Annotated[str | None, Field(description="collection job of a track")]
    error: ErrorDocument | dict[str, object] | None


class WatchRunDetail(WatchRunDocument):
    """One run with its entries and its digest."""

    entries: list[WatchRunEntry]
    digest: Annotated[
        dict[str, object] | None, Field(description="changes per entry; see docs/watchlists.md")
    ]
    is_demo_data: bool


class WatchlistDocument(ClosedDocument):
    """A stored watchlist."""

    name: str
    every: Annotated[str, Field(examples=["every 6 hours"])]
    entries: list[WatchEntry]
    thresholds: WatchThresholds
    parameters: Annotated[dict[str, object], Field(description="parameters for its scans")]
    enabled: bool
    cron: Annotated[str, Field(examples=["0 */6 * * *"])]
    next_due_at: Annotated[Timestamp | None, Field(description="null: disabled")]
    last_run: WatchRunDocument | None
    created_at: Timestamp
    updated_at: Timestamp
    is_demo_data: bool


class WatchlistList(ClosedDocument):
    """All watchlists."""

    watchlists: list[WatchlistDocument]
    returned_count: Count
    is_demo_data: bool


class WatchlistDeleted(ClosedDocument):
    """A deleted watchlist."""

    name: str
    deleted: bool
    is_demo_data: bool


class WatchRunList(ClosedDocument):
    """The newest runs."""

    runs: list[WatchRunDocument]
    returned_count: Count
    is_demo_data: bool


class WatchDigestList(ClosedDocument):
    """The newest digests."""

    digests: list[dict[str, object]]
    returned_count: Count
    is_demo_data: bool
