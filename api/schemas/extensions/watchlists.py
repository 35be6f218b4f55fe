"""Schemas for watchlists, and the responses of each watchlist operation."""

from typing import Annotated, Any

from pydantic import Field

from api.responses.errors import NOT_MODIFIED, OK
from api.schemas.answers import BAD_BODY, BAD_PARAMETERS, Answers, failures, headers
from api.schemas.shape import Count, Envelope, ErrorDocument, MaybeCount, Moment, Shape
from warehouse.records.jobs import Origin
from warehouse.records.watchlists import EntryKind, LookStatus, RunStatus

_NO_STORE = ("profile_not_chosen", "warehouse_unavailable")
Maybe = Annotated[Moment | None, Field(description="ISO 8601, UTC; null: not yet")]


class WatchEntry(Shape):
    """One entry of a watchlist."""

    kind: EntryKind
    input: Annotated[str, Field(description="input as given")]


class WatchThresholds(Shape):
    """Smallest changes that a digest reports; null disables a threshold."""

    velocity: float | None
    rank_change: int | None
    new_music_id: bool


class WatchFiles(Shape):
    """Paths of the digest files, relative to the folder of digests."""

    json_: Annotated[str, Field(alias="json")]
    html: str


class WatchTold(Shape):
    """Outcome of the webhook call."""

    host: str
    status: int | None
    error: Annotated[
        str | None, Field(description="`refused`, `unreachable`, `timeout`, `special_address`")
    ]


class WatchRunDocument(Shape):
    """One run of a watchlist."""

    run_id: str
    watchlist: str
    status: RunStatus
    origin: Origin
    due_at: Moment
    began_at: Maybe
    ended_at: Maybe
    missed_count: Annotated[Count, Field(description="earlier due times without a run")]
    outcome: str | None
    change_count: MaybeCount
    files: WatchFiles | None
    told: WatchTold | None


class WatchRunEntry(WatchEntry):
    """Outcome of one entry of a run."""

    status: LookStatus
    subject: Annotated[str | None, Field(description="id that the input was resolved to")]
    job_id: Annotated[str | None, Field(description="collection job of a track")]
    error: ErrorDocument | dict[str, Any] | None


class WatchRunWhole(WatchRunDocument):
    """One run with its entries and its digest."""

    entries: list[WatchRunEntry]
    digest: Annotated[
        dict[str, Any] | None, Field(description="changes per entry; see docs/watchlists.md")
    ]
    is_demo_data: bool


class WatchlistDocument(Shape):
    """A stored watchlist."""

    name: str
    every: Annotated[str, Field(examples=["every 6 hours"])]
    entries: list[WatchEntry]
    thresholds: WatchThresholds
    parameters: Annotated[dict[str, Any], Field(description="parameters for its scans")]
    enabled: bool
    cron: Annotated[str, Field(examples=["0 */6 * * *"])]
    next_due_at: Annotated[Moment | None, Field(description="null: disabled")]
    last_run: WatchRunDocument | None
    created_at: Moment
    updated_at: Moment
    is_demo_data: bool


class WatchlistList(Shape):
    """All watchlists."""

    watchlists: list[WatchlistDocument]
    returned_count: Count
    is_demo_data: bool


class WatchlistDeleted(Shape):
    """A deleted watchlist."""

    name: str
    deleted: bool
    is_demo_data: bool


class WatchRunList(Shape):
    """The newest runs."""

    runs: list[WatchRunDocument]
    returned_count: Count
    is_demo_data: bool


class WatchDigestList(Shape):
    """The newest digests."""

    digests: list[dict[str, Any]]
    returned_count: Count
    is_demo_data: bool


def _answers(model: Any, description: str, *types: str, is_read: bool = True) -> Answers:
    names = ("ETag",) if is_read else ()
    found: Answers = {
        OK: {"model": model, "description": description, "headers": headers(*names)},
        **failures(*BAD_PARAMETERS, *_NO_STORE, *types),
    }
    if is_read:
        found[NOT_MODIFIED] = {
            "description": "`data` matches If-None-Match",
            "headers": headers("ETag"),
        }
    return found


_ONE = Envelope[WatchlistDocument]
LIST_ANSWERS = _answers(Envelope[WatchlistList], "Watchlists")
CREATE_ANSWERS = _answers(_ONE, "New watchlist", *BAD_BODY, "invalid_music_input", is_read=False)
READ_ANSWERS = _answers(_ONE, "Watchlist", "not_found")
CHANGE_ANSWERS = _answers(
    _ONE, "Changed watchlist", *BAD_BODY, "invalid_music_input", "not_found", is_read=False
)
DELETE_ANSWERS = _answers(
    Envelope[WatchlistDeleted], "Deleted watchlist", "not_found", is_read=False
)
RUN_NOW_ANSWERS = _answers(
    Envelope[WatchRunWhole], "Started or joined run", "not_found", is_read=False
)
RUNS_ANSWERS = _answers(Envelope[WatchRunList], "Newest runs", "not_found")
RUN_ANSWERS = _answers(Envelope[WatchRunWhole], "Run", "not_found")
DIGESTS_ANSWERS = _answers(Envelope[WatchDigestList], "Newest digests", "not_found")
