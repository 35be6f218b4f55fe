"""What one look at a track, an account or a hashtag showed, kept to be compared. Records only.

Not here: how two are compared (`changes.py`), how one is read
(`pipelines/watchlists/to_observations.py`).
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from warehouse.records.videos import Statistics
from warehouse.records.watchlists import EntryKind


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkSeen:
    """A work as one observation has it. `rank`: its place, None where none can be told."""

    aweme_id: str
    observed_at: datetime
    title: str | None = None
    create_time: int | None = None
    statistics: Statistics = field(default_factory=Statistics)
    rank: int | None = None
    music_id: str | None = None
    link_type: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What one look showed. `figures` are counts of the subject itself, by name.

    `top`: how many places count for rank changes. `gone`: works that the platform names but does
    not show any more, with its reason. `is_whole`: a work that is missing here was looked for;
    False for a first screen, which newer works push others off.
    """

    kind: EntryKind
    subject: str
    observed_at: datetime
    title: str | None = None
    figures: Mapping[str, int | None] = field(default_factory=dict)
    works: tuple[WorkSeen, ...] = ()
    gone: Mapping[str, str | None] = field(default_factory=dict)
    top: int = 30
    is_whole: bool = True

    def to_document(self) -> dict[str, Any]:
        """Plain JSON values."""
        document = asdict(self)
        document["observed_at"] = to_moment(self.observed_at)
        for work, entry in zip(self.works, document["works"], strict=True):
            entry["observed_at"] = to_moment(work.observed_at)
        return document


def to_observation(document: Mapping[str, Any]) -> Observation:
    """The observation behind a document of `Observation.to_document`."""
    works = tuple(
        WorkSeen(
            **{
                **work,
                "observed_at": datetime.fromisoformat(work["observed_at"]),
                "statistics": Statistics(**work["statistics"]),
            }
        )
        for work in document["works"]
    )
    moment = datetime.fromisoformat(document["observed_at"])
    return Observation(**{**document, "works": works, "observed_at": moment})


def to_moment(moment: datetime) -> str:
    """ISO 8601 in UTC, to the microsecond: rates depend on it."""
    return moment.astimezone(UTC).isoformat()
