"""Observations of a track, an account or a hashtag, stored for comparison.

They are made of scan results, accounts and hashtags. Not here: comparing two (`changes.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime

from pipelines.documents.result_types import StoredResult
from pipelines.documents.video_types import LinkedVideo
from pipelines.documents.videos import to_statistics
from pipelines.scan.rules.ranking import rank_documents
from warehouse.records.times import to_utc_text
from warehouse.records.values import Document, ReadOnlyDocument
from warehouse.records.videos import Account, HashtagInfo, Statistics, Video
from warehouse.records.watchlists import WatchlistEntryKind

MOST_EARLIER = 10_000
"""Videos of earlier observations that one remembers, those that it missed last."""
_TITLE_LENGTH = 80


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

    @property
    def confirms(self) -> str | None:
        """The music id that this video confirms to carry the recording, if any."""
        return None if self.link_type is None else self.music_id


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchObservation:
    """One observation of a watchlist entry.

    Attributes:
        figures: Counts of the subject itself, by name.
        sources: The platform's field that held a figure, for those that several fields may hold.
        top: Number of ranks considered for rank changes.
        gone: Videos that the platform no longer shows, with its reason.
        is_whole: Whether a missing video is really missing; False for a first screen, where newer
            videos displace others.
        earlier: Videos that only earlier observations show, with the music id that they confirmed.
    """

    kind: WatchlistEntryKind
    subject: str
    observed_at: datetime
    title: str | None = None
    figures: Mapping[str, int | None] = field(default_factory=dict)
    sources: Mapping[str, str | None] = field(default_factory=dict)
    works: tuple[ObservedVideo, ...] = ()
    gone: Mapping[str, str | None] = field(default_factory=dict)
    top: int = 30
    is_whole: bool = True
    earlier: Mapping[str, str | None] = field(default_factory=dict)

    def after(self, before: "WatchObservation") -> "WatchObservation":
        """Return this observation with what only the one before it and earlier ones show."""
        confirmed = {**before.earlier, **{video.aweme_id: video.confirms for video in before.works}}
        current = {video.aweme_id for video in self.works}
        gone_since = [
            (aweme_id, music_id)
            for aweme_id, music_id in confirmed.items()
            if aweme_id not in current
        ]
        return replace(self, earlier=dict(gone_since[-MOST_EARLIER:]))

    def to_document(self) -> Document:
        """Return plain JSON values."""
        document = asdict(self)
        document["observed_at"] = to_moment(self.observed_at)
        for video, entry in zip(self.works, document["works"], strict=True):
            entry["observed_at"] = to_moment(video.observed_at)
        return document


def to_observation(document: ReadOnlyDocument) -> WatchObservation:
    """Restore an observation from the document of `WatchObservation.to_document`."""
    videos = tuple(
        ObservedVideo(
            **{
                **video,
                "observed_at": datetime.fromisoformat(video["observed_at"]),
                "statistics": Statistics(**video["statistics"]),
            }
        )
        for video in document["works"]
    )
    moment = datetime.fromisoformat(document["observed_at"])
    return WatchObservation(**{**document, "works": videos, "observed_at": moment})


def to_moment(moment: datetime) -> str:
    """Format as ISO 8601 in UTC with microseconds, which rates depend on."""
    return to_utc_text(moment)


def to_track_observation(
    result: StoredResult, *, top: int, gone: Mapping[str, str | None]
) -> WatchObservation:
    """Convert a stored scan result: all confirmed videos, ranked by hot score if known.

    Args:
        result: The result of a scan for a music id.
        top: Number of ranks considered for rank changes.
        gone: Candidates that the platform no longer shows, with its reason.
    """
    videos = tuple(
        _ranked_video(document, rank)
        for rank, document in enumerate(rank_documents(result["ranked"], sort_by="hot_score"), 1)
    )
    music, subject = result["music"], result["music_id"]
    assert subject is not None, "a watched track has an id"
    hot_scores = [video.statistics.hot_score for video in videos]
    return WatchObservation(
        kind="track",
        subject=subject,
        observed_at=datetime.fromisoformat(result["created_at"]),
        title=None if music is None else music["title"],
        figures={
            "confirmed_count": len(videos),
            "music_id_count": len({video.music_id for video in videos}),
            "unique_account_count": result["unique_account_count"],
            "hot_score_sum": None
            if None in hot_scores
            else sum(score or 0 for score in hot_scores),
        },
        works=videos,
        gone=gone,
        top=top,
    )


def to_account_observation(account: Account, videos: Sequence[Video]) -> WatchObservation:
    """Convert an account's profile and its first page of videos."""
    return WatchObservation(
        kind="account",
        subject=account.sec_uid,
        observed_at=account.observed_at,
        title=account.nickname,
        figures={
            "follower_count": account.follower_count,
            "total_favorited": account.total_favorited,
            "aweme_count": account.aweme_count,
        },
        sources={"follower_count": account.follower_count_source},
        works=_screen(videos, is_ranked=False),
        is_whole=False,
    )


def to_hashtag_observation(info: HashtagInfo, videos: Sequence[Video]) -> WatchObservation:
    """Convert a hashtag's profile and its first screen in the platform's own order."""
    is_exact = info.is_exact
    return WatchObservation(
        kind="hashtag",
        subject=info.ch_id,
        observed_at=info.observed_at,
        title=info.name,
        figures={
            "view_count": info.view_count if is_exact else None,
            "user_count": info.user_count if is_exact else None,
        },
        works=_screen(videos, is_ranked=True),
        is_whole=False,
    )


def _ranked_video(document: LinkedVideo, rank: int) -> ObservedVideo:
    # As in `_screen`: the difference of rounded counts is noise.
    statistics = to_statistics(document) if document["statistics_complete"] else Statistics()
    return ObservedVideo(
        aweme_id=document["aweme_id"],
        observed_at=datetime.fromisoformat(document["observed_at"]),
        title=_short(document["desc"]),
        create_time=document["create_time"],
        statistics=statistics,
        rank=None if statistics.hot_score is None else rank,
        music_id=document["source_music_id"],
        link_type=document["link_type"],
    )


def _screen(videos: Sequence[Video], *, is_ranked: bool) -> tuple[ObservedVideo, ...]:
    """Convert listed videos; rounded counts become unknown because their difference is noise."""
    return tuple(
        ObservedVideo(
            aweme_id=video.aweme_id,
            observed_at=video.observed_at,
            title=_short(video.desc),
            create_time=video.create_time,
            statistics=video.statistics if video.is_exact else Statistics(),
            rank=place if is_ranked else None,
            music_id=video.music.music_id if video.music else None,
        )
        for place, video in enumerate(videos, 1)
    )


def _short(text: str | None) -> str | None:
    if text is None or len(text) <= _TITLE_LENGTH:
        return text
    return f"{text[: _TITLE_LENGTH - 1]}…"
