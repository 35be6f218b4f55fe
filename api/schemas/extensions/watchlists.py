"""Schemas for watchlists."""

from typing import Annotated

from pydantic import Field

from api.responses.documents import ErrorDocument
from pipelines.documents.fields import ClosedDocument, Count, OptionalCount, Timestamp
from warehouse.records.alerts import AlertLanguage, AlertOutcome, DeliveryStatus
from warehouse.records.jobs import Origin
from warehouse.records.watchlists import EntryCheckStatus, RunStatus, WatchlistEntryKind

OptionalTimestamp = Annotated[Timestamp | None, Field(description="ISO 8601, UTC; null: not yet")]


class WatchEntry(ClosedDocument):
    """One entry of a watchlist or of a run."""

    kind: WatchlistEntryKind
    input: Annotated[str, Field(description="input as given")]
    subject: Annotated[str | None, Field(description="id that the input was resolved to")]


class WatchlistEntryDocument(WatchEntry):
    """One entry of a watchlist, with what its newest digest says of it."""

    title: str | None


class WatchThresholds(ClosedDocument):
    """Smallest changes that a digest reports; null disables a threshold."""

    velocity: float | None
    rank_change: int | None
    new_music_id: bool
    likes: int | None
    creator_followers: int | None
    disappeared: bool
    usage_growth: float | None


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


class AlertAttemptDocument(ClosedDocument):
    """One attempt to send a message to a channel."""

    at: Timestamp
    outcome: AlertOutcome
    status: Annotated[int | None, Field(description="of HTTP; null: no response, or not HTTP")]


class AlertDeliveryDocument(ClosedDocument):
    """The message about a run to one channel, with every attempt to send it."""

    channel: str
    status: DeliveryStatus
    attempts: list[AlertAttemptDocument]
    next_at: Annotated[Timestamp | None, Field(description="next attempt; null: none follows")]


class AlertChannelDocument(ClosedDocument):
    """Where messages about runs go. The URL is a secret and is not returned."""

    name: str
    service: Annotated[str, Field(description="what the URL leads to", examples=["Slack"])]
    language: AlertLanguage
    created_at: Timestamp
    test: Annotated[AlertAttemptDocument | None, Field(description="newest test; null: none yet")]
    is_demo_data: bool


class AlertChannelList(ClosedDocument):
    """All channels."""

    channels: list[AlertChannelDocument]
    returned_count: Count
    is_demo_data: bool


class AlertChannelDeleted(ClosedDocument):
    """A deleted channel."""

    name: str
    deleted: bool
    is_demo_data: bool


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
    alerts: Annotated[
        list[AlertDeliveryDocument], Field(description="messages about it, one per channel")
    ]


class WatchRunEntry(WatchEntry):
    """Outcome of one entry of a run."""

    status: EntryCheckStatus
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
    entries: list[WatchlistEntryDocument]
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
