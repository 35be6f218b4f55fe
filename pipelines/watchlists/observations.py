"""Observations of a track, an account or a hashtag, stored for comparison. Records only.

Not here: comparing two observations (`changes.py`), building one (`to_observations.py`).
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime

from warehouse.records.values import Document, ReadOnlyDocument
from warehouse.records.videos import Statistics
from warehouse.records.watchlists import WatchlistEntryKind


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedVideo:
    """A video in one observation; `rank` is None if it is unknown."""

    aweme_id: str
    observed_at: datetime
    title: str | None = None
    create_time: int | None = None
    statistics: Statistics = field(default_factory=Statistics)
    rank: int | None = None
    music_id: str | None = None
    link_type: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchObservation:
    """One observation of a watchlist entry.

    Attributes:
        figures: Counts of the subject itself, by name.
        top: Number of ranks considered for rank changes.
        gone: Videos that the platform no longer shows, with its reason.
        is_whole: Whether a missing video is really missing; False for a first screen, where newer
            videos displace others.
    """

    kind: WatchlistEntryKind
    subject: str
    observed_at: datetime
    title: str | None = None
    figures: Mapping[str, int | None] = field(default_factory=dict)
    works: tuple[ObservedVideo, ...] = ()
    gone: Mapping[str, str | None] = field(default_factory=dict)
    top: int = 30
    is_whole: bool = True

    def to_document(self) -> Document:
        """Return plain JSON values."""
        document = asdict(self)
        document["observed_at"] = to_moment(self.observed_at)
        for work, entry in zip(self.works, document["works"], strict=True):
            entry["observed_at"] = to_moment(work.observed_at)
        return document


def to_observation(document: ReadOnlyDocument) -> WatchObservation:
    """Restore an observation from the document of `Observation.to_document`."""
    works = tuple(
        ObservedVideo(
            **{
                **work,
                "observed_at": datetime.fromisoformat(work["observed_at"]),
                "statistics": Statistics(**work["statistics"]),
            }
        )
        for work in document["works"]
    )
    moment = datetime.fromisoformat(document["observed_at"])
    return WatchObservation(**{**document, "works": works, "observed_at": moment})


def to_moment(moment: datetime) -> str:
    """Format as ISO 8601 in UTC with microseconds, which rates depend on."""
    return moment.astimezone(UTC).isoformat()
