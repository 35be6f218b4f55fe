"""Find the changes between two observations of a track, an account or a hashtag.

Every change carries its numbers; an unknown value is None and causes no change. A rate is the gain
per 86,400 s between the observation times of the counts.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime

from pipelines.documents.result_types import LinkedVideo, StoredResult
from pipelines.documents.videos import to_statistics
from pipelines.reads.series import rounded_range
from pipelines.scan.rules.results import rank_documents
from warehouse.records.times import to_utc_text
from warehouse.records.values import Document, ReadOnlyDocument
from warehouse.records.videos import (
    COUNTS,
    PHOTO_REASON,
    Account,
    HashtagInfo,
    Statistics,
    Video,
)
from warehouse.records.watchlists import DigestThresholds, WatchlistEntryKind

# Observations of a track, an account or a hashtag, stored for comparison.
#
# They are made of scan results, accounts and hashtags.

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
class Creator:
    """An account with videos of a track; a number of followers that was not read is None."""

    nickname: str | None
    follower_count: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageCount:
    """The platform's own count of the videos with a sound; it may be rounded."""

    count: int
    is_exact: bool
    observed_at: datetime

    @property
    def bounds(self) -> tuple[int, int]:
        """The smallest and the largest count that may be shown so."""
        exact = (self.count, self.count)
        return exact if self.is_exact else rounded_range(self.count) or exact


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
        creators: Accounts with confirmed videos, by id: of this observation, and after `after` of
            earlier ones, too. None: unknown, as in observations of earlier versions.
        usage: The usage count of a track; None if it was not shown.
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
    creators: Mapping[str, Creator] | None = None
    usage: UsageCount | None = None

    def after(self, before: "WatchObservation") -> "WatchObservation":
        """Return this observation with what only the one before it and earlier ones show."""
        confirmed = {**before.earlier, **{video.aweme_id: video.confirms for video in before.works}}
        current = {video.aweme_id for video in self.works}
        gone_since = [
            (aweme_id, music_id)
            for aweme_id, music_id in confirmed.items()
            if aweme_id not in current
        ]
        creators = self.creators
        if creators is not None:
            missed = (before.creators or {}).items()
            missed_creators = [item for item in missed if item[0] not in creators]
            creators = {**dict(missed_creators[-MOST_EARLIER:]), **creators}
        # In the order in which they were missed: the first of them are forgotten.
        return replace(self, earlier=dict(gone_since[-MOST_EARLIER:]), creators=creators)

    def to_document(self) -> Document:
        """Return plain JSON values."""
        document = asdict(self)
        # With microseconds, which rates depend on.
        document["observed_at"] = to_utc_text(self.observed_at)
        for video, entry in zip(self.works, document["works"], strict=True):
            entry["observed_at"] = to_utc_text(video.observed_at)
        if self.usage is not None:
            document["usage"]["observed_at"] = to_utc_text(self.usage.observed_at)
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
    creators = document.get("creators")
    if creators is not None:
        creators = {sec_uid: Creator(**creator) for sec_uid, creator in creators.items()}
    usage = document.get("usage")
    if usage is not None:
        usage = UsageCount(**{**usage, "observed_at": datetime.fromisoformat(usage["observed_at"])})
    return WatchObservation(
        **{
            **document,
            "works": videos,
            "observed_at": moment,
            "creators": creators,
            "usage": usage,
        }
    )


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
    usage = _usage_of(music)
    return WatchObservation(
        kind="track",
        subject=subject,
        observed_at=datetime.fromisoformat(result["created_at"]),
        title=None if music is None else music["title"],
        figures={
            "use_count": usage.count if usage is not None and usage.is_exact else None,
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
        creators={
            entry["sec_uid"]: Creator(
                nickname=entry["nickname"], follower_count=entry["follower_count"]
            )
            for entry in result["account_summary"]["accounts"]
        },
        usage=usage,
    )


def _usage_of(music: ReadOnlyDocument | None) -> UsageCount | None:
    """Return the usage count of a track document; those of earlier versions have none."""
    count = None if music is None else music.get("use_count")
    if music is None or count is None:
        return None
    return UsageCount(
        count=count,
        is_exact=bool(music["use_count_exact"]),
        observed_at=datetime.fromisoformat(music["use_count_observed_at"]),
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


_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """A count before and after.

    `change` and `per_day` are None if a number is unknown; `per_day` also if no time passed.
    """

    name: str
    before: int | None
    after: int | None
    change: int | None
    elapsed_s: float
    per_day: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoGrowth:
    """A fast-growing video; `velocity` is its gain of hot score per day."""

    aweme_id: str
    title: str | None
    music_id: str | None
    velocity: float
    counts: tuple[Growth, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankChange:
    """A video with a new rank. `change` is positive for a rise, None if a rank is missing."""

    aweme_id: str
    title: str | None
    before: int | None
    after: int | None
    change: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMusicId:
    """A music id newly confirmed to carry the recording."""

    music_id: str
    work_count: int
    link_types: tuple[str, ...]
    example_aweme_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoAppearance:
    """A new or missing video.

    `reason` is the platform's own reason for a missing video, None if it gave none: the video is
    only absent from the list, which is no proof.
    """

    aweme_id: str
    title: str | None
    rank: int | None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedLikes:
    """A video that reached the likes of the threshold; `before` is None if it is new since then."""

    aweme_id: str
    title: str | None
    before: int | None
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCreator:
    """An account with a first confirmed video, and at least the followers of the threshold."""

    sec_uid: str
    nickname: str | None
    follower_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageGrowth:
    """The usage count of a track grew. `percent_per_day` is the least that rounding allows."""

    music_id: str
    before: int
    after: int
    is_exact: bool
    elapsed_s: float
    percent_per_day: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchChanges:
    """All changes of an entry. `since` is None for a first observation, which has no changes.

    `vanished_works` are the videos that this observation misses, for whatever reason;
    `disappeared_works` those of which the platform itself has answered that it no longer shows
    them, also if an earlier observation had missed them already.
    """

    since: datetime | None
    until: datetime
    figures: tuple[Growth, ...] = ()
    fast_works: tuple[VideoGrowth, ...] = ()
    rank_changes: tuple[RankChange, ...] = ()
    new_music_ids: tuple[NewMusicId, ...] = ()
    new_works: tuple[VideoAppearance, ...] = ()
    vanished_works: tuple[VideoAppearance, ...] = ()
    reached_likes: tuple[ReachedLikes, ...] = ()
    new_creators: tuple[NewCreator, ...] = ()
    disappeared_works: tuple[VideoAppearance, ...] = ()
    usage_growth: tuple[UsageGrowth, ...] = ()

    @property
    def count(self) -> int:
        """Number of changes in a digest: everything except the plain figures."""
        # Most of what disappeared is missing, too: it counts once.
        missing = {video.aweme_id for video in (*self.vanished_works, *self.disappeared_works)}
        named = (
            self.fast_works,
            self.rank_changes,
            self.new_music_ids,
            self.new_works,
            self.reached_likes,
            self.new_creators,
            self.usage_growth,
            missing,
        )
        return sum(map(len, named))

    def to_document(self) -> Document:
        """Return plain JSON values."""
        document = asdict(self)
        document["since"] = None if self.since is None else to_utc_text(self.since)
        document["until"] = to_utc_text(self.until)
        return {**document, "change_count": self.count}


def find_changes(
    before: WatchObservation | None, after: WatchObservation, *, thresholds: DigestThresholds
) -> WatchChanges:
    """Return the changes in `after` that reach the thresholds."""
    if before is None:
        figures = tuple(
            measure_growth(name, None, now, elapsed_s=0.0) for name, now in after.figures.items()
        )
        return WatchChanges(since=None, until=after.observed_at, figures=figures)
    then = {video.aweme_id: video for video in before.works}
    now = {video.aweme_id: video for video in after.works}
    both = [(then[name], video) for name, video in now.items() if name in then]
    return WatchChanges(
        since=before.observed_at,
        until=after.observed_at,
        figures=_figures(before, after),
        fast_works=_fast(both, thresholds.velocity),
        # The Top N follows `count`, which may have changed between the two.
        rank_changes=_ranks(both, thresholds.rank_change, top=max(before.top, after.top)),
        new_music_ids=_music_ids(before, after.works) if thresholds.new_music_id else (),
        new_works=tuple(
            _news(video)
            for name, video in now.items()
            # What an earlier run showed is not new when it comes back.
            if name not in then and name not in before.earlier
        ),
        vanished_works=_vanished(then, after),
        reached_likes=_reached_likes(before, after, thresholds.likes),
        new_creators=_new_creators(before, after, thresholds.creator_followers),
        disappeared_works=_disappeared(before, after) if thresholds.disappeared else (),
        usage_growth=_usage_growth(before, after, thresholds.usage_growth),
    )


def measure_growth(name: str, before: int | None, after: int | None, *, elapsed_s: float) -> Growth:
    """Return the growth of a count between two observations `elapsed_s` seconds apart."""
    change = None if before is None or after is None else after - before
    per_day = None if change is None or elapsed_s <= 0 else change * _DAY_S / elapsed_s
    return Growth(
        name=name, before=before, after=after, change=change, elapsed_s=elapsed_s, per_day=per_day
    )


def measure_video_growth(before: ObservedVideo, after: ObservedVideo) -> tuple[Growth, ...]:
    """Return the growth of a video's hot score and four counts."""
    elapsed_s = (after.observed_at - before.observed_at).total_seconds()
    pairs = {"hot_score": (before.statistics.hot_score, after.statistics.hot_score)}
    for name in COUNTS:
        pairs[name] = (getattr(before.statistics, name), getattr(after.statistics, name))
    return tuple(
        measure_growth(name, *values, elapsed_s=elapsed_s) for name, values in pairs.items()
    )


def _figures(before: WatchObservation, after: WatchObservation) -> tuple[Growth, ...]:
    """Return the growth of each figure; what another field held before is unknown for this one."""
    elapsed_s = (after.observed_at - before.observed_at).total_seconds()
    comparable = {
        name: value
        for name, value in before.figures.items()
        if before.sources.get(name) == after.sources.get(name)
    }
    return tuple(
        measure_growth(name, comparable.get(name), value, elapsed_s=elapsed_s)
        for name, value in after.figures.items()
    )


def _fast(
    both: Iterable[tuple[ObservedVideo, ObservedVideo]], threshold: float | None
) -> tuple[VideoGrowth, ...]:
    if threshold is None:
        return ()
    fast = []
    for then, now in both:
        counts = measure_video_growth(then, now)
        velocity = counts[0].per_day
        if velocity is not None and velocity >= threshold:
            fast.append(
                VideoGrowth(
                    aweme_id=now.aweme_id,
                    title=now.title,
                    music_id=now.music_id,
                    velocity=velocity,
                    counts=counts,
                )
            )
    return tuple(sorted(fast, key=lambda video: (-video.velocity, video.aweme_id)))


def _ranks(
    both: Iterable[tuple[ObservedVideo, ObservedVideo]], threshold: int | None, *, top: int
) -> tuple[RankChange, ...]:
    if threshold is None:
        return ()
    changes = [
        RankChange(
            aweme_id=now.aweme_id,
            title=now.title,
            before=then.rank,
            after=now.rank,
            change=then.rank - now.rank,
        )
        for then, now in both
        if then.rank is not None
        and now.rank is not None
        # Within the Top N before or after: further down, ranks change all the time.
        and min(then.rank, now.rank) <= top
        and abs(then.rank - now.rank) >= threshold
    ]
    return tuple(sorted(changes, key=lambda change: (change.after or 0, change.aweme_id)))


def _music_ids(before: WatchObservation, now: tuple[ObservedVideo, ...]) -> tuple[NewMusicId, ...]:
    """Return music ids that no confirmed video had before."""
    earlier_ids = {*before.earlier.values(), *(video.confirms for video in before.works)}
    fresh: dict[str, list[ObservedVideo]] = {}
    for video in now:
        music_id = video.confirms
        if music_id is not None and music_id not in earlier_ids:
            fresh.setdefault(music_id, []).append(video)
    return tuple(
        NewMusicId(
            music_id=music_id,
            work_count=len(videos),
            link_types=tuple(sorted({video.link_type or "" for video in videos})),
            example_aweme_id=videos[0].aweme_id,
        )
        for music_id, videos in sorted(fresh.items())
    )


def _reached_likes(
    before: WatchObservation, after: WatchObservation, threshold: int | None
) -> tuple[ReachedLikes, ...]:
    """Return videos that had fewer likes before; one published since then had none."""
    if threshold is None:
        return ()
    then = {video.aweme_id: video for video in before.works}
    reached = []
    for video in after.works:
        earlier = then.get(video.aweme_id)
        likes_before = None if earlier is None else earlier.statistics.digg_count
        likes = video.statistics.digg_count
        is_new = earlier is None and (video.create_time or 0) > before.observed_at.timestamp()
        had_fewer = is_new or (likes_before is not None and likes_before < threshold)
        if likes is not None and likes >= threshold and had_fewer:
            reached.append(
                ReachedLikes(
                    aweme_id=video.aweme_id, title=video.title, before=likes_before, after=likes
                )
            )
    return tuple(sorted(reached, key=lambda video: (-video.after, video.aweme_id)))


def _new_creators(
    before: WatchObservation, after: WatchObservation, threshold: int | None
) -> tuple[NewCreator, ...]:
    if threshold is None or before.creators is None:
        return ()
    fresh = [
        NewCreator(
            sec_uid=sec_uid, nickname=creator.nickname, follower_count=creator.follower_count
        )
        for sec_uid, creator in (after.creators or {}).items()
        if sec_uid not in before.creators
        and creator.follower_count is not None
        and creator.follower_count >= threshold
    ]
    return tuple(sorted(fresh, key=lambda creator: (-creator.follower_count, creator.sec_uid)))


def measure_usage_growth(
    music_id: str, before: UsageCount | None, after: UsageCount | None
) -> UsageGrowth | None:
    """Return how much a usage count grew per day; None if that is unknown or no time passed."""
    if before is None or after is None:
        return None
    elapsed_s = (after.observed_at - before.observed_at).total_seconds()
    # A step of the rounding is no growth: from the largest count of before to the smallest of now.
    largest_before, smallest_after = before.bounds[1], after.bounds[0]
    if elapsed_s <= 0 or largest_before <= 0:
        return None
    share = (smallest_after - largest_before) / largest_before
    return UsageGrowth(
        music_id=music_id,
        before=before.count,
        after=after.count,
        is_exact=before.is_exact and after.is_exact,
        elapsed_s=elapsed_s,
        percent_per_day=100 * share * _DAY_S / elapsed_s,
    )


def _usage_growth(
    before: WatchObservation, after: WatchObservation, threshold: float | None
) -> tuple[UsageGrowth, ...]:
    growth = measure_usage_growth(after.subject, before.usage, after.usage)
    if threshold is None or growth is None or growth.percent_per_day < threshold:
        return ()
    return (growth,)


def _disappeared(before: WatchObservation, after: WatchObservation) -> tuple[VideoAppearance, ...]:
    """Return videos of which the platform has answered since then that it shows them no more."""
    then = {video.aweme_id: video for video in before.works}
    return tuple(
        VideoAppearance(
            aweme_id=aweme_id,
            title=then[aweme_id].title if aweme_id in then else None,
            rank=then[aweme_id].rank if aweme_id in then else None,
            reason=reason,
        )
        for aweme_id, reason in after.gone.items()
        # A photo post is only left out by the surface that was asked.
        if reason is not None
        and not reason.startswith(PHOTO_REASON)
        and aweme_id not in before.gone
        and (aweme_id in then or aweme_id in before.earlier)
    )


def _vanished(
    then: Mapping[str, ObservedVideo], after: WatchObservation
) -> tuple[VideoAppearance, ...]:
    is_expected = _expectation(after)
    now = {video.aweme_id for video in after.works}
    return tuple(
        _news(video, reason=after.gone.get(name))
        for name, video in then.items()
        if name in after.gone or (name not in now and is_expected(video))
    )


def _expectation(after: WatchObservation) -> Callable[[ObservedVideo], bool]:
    """Return a predicate: should this video be in the list if it still exists?

    An account lists its videos newest first, so a video younger than the oldest on the screen must
    be on it. A hashtag has the platform's own order, so an absence proves nothing.
    """
    if after.is_whole:
        return lambda _work: True
    times = [video.create_time for video in after.works if video.create_time is not None]
    if after.kind != "account" or len(times) < 2:  # noqa: PLR2004 -- a lone one may be pinned
        return lambda _work: False
    # Pinned videos may be older than all others on the screen, so that many are passed over.
    oldest = sorted(times)[min(_PINNED, len(times) - 1)]
    return lambda video: video.create_time is not None and video.create_time > oldest


_PINNED = 3
"""Maximum number of pinned videos, which come out of order."""


def _news(video: ObservedVideo, *, reason: str | None = None) -> VideoAppearance:
    return VideoAppearance(
        aweme_id=video.aweme_id, title=video.title, rank=video.rank, reason=reason
    )
