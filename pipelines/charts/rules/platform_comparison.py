"""Compare a chart song with a music id: its chart positions, the videos' likes, the lead.

Joins rows of both sides into mart rows and documents, links songs, and estimates the lead. Not
here: reading (`warehouse`).
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal, get_args

from pipelines.charts.rules.history import song_key
from pipelines.scan.rules.search import folded, song_names
from warehouse.records.charts import AudioMatch, ChartSong, PlatformMusic, SongLinkDecision
from warehouse.records.times import END_S
from warehouse.records.values import Document, ReadOnlyDocument

# Link songs of the chart to music ids: by rule with a reason, or by a user's statement.
#
# The chart and the platform share no id, so names are compared, and links extend to music ids with
# the same recording confirmed by audio. A rule's confidence is a class, not a probability; a
# user's statement wins.

LINK_METHOD = "names-1"
"""Increase this with every change of a rule, so that rows record which rules they follow."""

Relation = Literal["same", "possible", "different", "none"]
Confidence = Literal["manual", "high", "medium", "low"]
Reason = Literal[
    "manual_same",
    "manual_different",
    "title_and_artist",
    "title_and_one_artist",
    "confirmed_recording",
    "title_without_addition",
    "confirmed_variant",
    "title_only",
    "artist_differs",
    "no_longer_linked",
]

RULES: Mapping[Reason, tuple[Relation, Confidence]] = {
    "manual_same": ("same", "manual"),
    "manual_different": ("different", "manual"),
    "title_and_artist": ("same", "high"),
    "title_and_one_artist": ("same", "medium"),
    "confirmed_recording": ("same", "high"),
    "title_without_addition": ("possible", "medium"),
    "confirmed_variant": ("possible", "medium"),
    "title_only": ("possible", "low"),
    "artist_differs": ("different", "low"),
    "no_longer_linked": ("none", "low"),
}
"""Relation and confidence of each reason, strongest first; the first that applies wins."""

# From the strongest to the weakest.
_RELATIONS: tuple[Relation, ...] = get_args(Relation)
_CLASSES: tuple[Confidence, ...] = get_args(Confidence)
_STRENGTH = {reason: place for place, reason in enumerate(RULES)}
_ARTISTS = re.compile(r"[、,;/&+|×]|\b(?:feat|ft|vs)\b\.?|(?<=\s)x(?=\s)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Song:
    """A song of the chart, with its latest title and artist."""

    song_key: str
    title: str
    artist: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SongMatch:
    """The relation of a song and a music id; `via_music_id` if derived from another music id."""

    song_key: str
    music_id: str
    relation: Relation
    confidence: Confidence
    reason: Reason
    via_music_id: str | None = None


def link_songs(
    songs: Iterable[Song],
    sounds: Iterable[PlatformMusic],
    audio_matches: Iterable[AudioMatch] = (),
    statements: Iterable[SongLinkDecision] = (),
) -> tuple[SongMatch, ...]:
    """Return one link for every related pair, sorted by song and music id.

    The order of the inputs does not matter. One-letter titles name no song: only a user's
    statement can link those.
    """
    songs_by_key = {song.song_key: song for song in songs}
    sounds_by_name: dict[str, list[PlatformMusic]] = defaultdict(list)
    for sound in sounds:
        for name in song_names(sound.title):
            sounds_by_name[name].append(sound)

    # A song and a music id with a common title; the first title of a song that matches counts.
    links: dict[tuple[str, str], SongMatch] = {}
    for song in songs_by_key.values():
        for name in song_names(song.title):
            for sound in sounds_by_name.get(name, ()):
                link = _link(song.song_key, sound.music_id, _compare_artists(song, sound))
                links.setdefault((link.song_key, link.music_id), link)

    # A user's statement wins over the names.
    for (stated_key, music_id), statement in newest_statements(statements).items():
        if statement.said != "withdrawn" and stated_key in songs_by_key:
            reason: Reason = "manual_same" if statement.said == "same" else "manual_different"
            links[stated_key, music_id] = _link(stated_key, music_id, reason)

    # Links by audio replace weaker ones, the strongest last.
    extended = _extend_by_audio(links.values(), audio_matches)
    for link in sorted(extended, key=_strength, reverse=True):
        key = (link.song_key, link.music_id)
        if key not in links or _strength(link) < _strength(links[key]):
            links[key] = link
    return tuple(links[key] for key in sorted(links))


def newest_statements(
    statements: Iterable[SongLinkDecision],
) -> dict[tuple[str, str], SongLinkDecision]:
    """Return the newest statement of each pair, including withdrawn ones."""
    ordered = sorted(statements, key=lambda statement: (statement.said_at, statement.link_id))
    return {(statement.song_key, statement.music_id): statement for statement in ordered}


def _compare_artists(song: Song, sound: PlatformMusic) -> Reason:
    """Return why a song and a sound with a common title are linked: how their artists agree."""
    # The author of an original sound is whoever uploaded it, not an artist.
    sound_artists = artists_of(None if sound.is_original_sound else sound.author)
    song_artists = artists_of(song.artist)
    if not song_artists or not sound_artists:
        return "title_only"
    if not song_artists & sound_artists:
        return "artist_differs"
    if folded(song.title) != folded(sound.title or ""):
        return "title_without_addition"
    return "title_and_artist" if song_artists == sound_artists else "title_and_one_artist"


def artists_of(text: str | None) -> frozenset[str]:
    """Return the folded artists that a text names; empty if it names none."""
    plain = unicodedata.normalize("NFKC", text or "")
    return frozenset(filter(None, (folded(part) for part in _ARTISTS.split(plain))))


def _extend_by_audio(
    links: Iterable[SongMatch], audio_matches: Iterable[AudioMatch]
) -> Iterator[SongMatch]:
    """Extend links to music ids with the same recording, in both directions, one step only."""
    same_sound: dict[str, set[tuple[str, bool]]] = defaultdict(set)
    for match in audio_matches:
        if match.track != match.music_id:
            same_sound[match.track].add((match.music_id, match.is_variant))
            same_sound[match.music_id].add((match.track, match.is_variant))
    for base in links:
        if base.relation not in {"same", "possible"}:
            continue
        for music_id, is_variant in sorted(same_sound[base.music_id]):
            reason: Reason = "confirmed_variant" if is_variant else "confirmed_recording"
            link = _link(base.song_key, music_id, reason)
            # The link is at most as certain as the link that it is derived from, and not manual.
            limit: Confidence = "high" if base.confidence == "manual" else base.confidence
            yield replace(
                link,
                relation="same" if link.relation == base.relation == "same" else "possible",
                confidence=max(link.confidence, limit, key=_CLASSES.index),
                via_music_id=base.music_id,
            )


def _strength(link: SongMatch) -> tuple[int, int, int, str]:
    """Sort key, strongest first: manual, then relation, confidence and the order of rules."""
    is_rule = link.confidence != "manual"
    rank = _RELATIONS.index(link.relation) * len(_CLASSES) + _CLASSES.index(link.confidence)
    return (is_rule, rank, _STRENGTH[link.reason], link.via_music_id or "")


def by_relation(link: SongMatch) -> tuple[int, int, int, int, str]:
    """Sort key for readers: by relation, same songs first; within one the strongest first."""
    return (_RELATIONS.index(link.relation), *_strength(link))


def _link(song_key: str, music_id: str, reason: Reason) -> SongMatch:
    relation, confidence = RULES[reason]
    return SongMatch(
        song_key=song_key,
        music_id=music_id,
        relation=relation,
        confidence=confidence,
        reason=reason,
    )


# Estimate the lead: days from a song's rise on the platform to its entry on the chart.
#
# Both times are known as intervals only: an issue covers a day, likes are known when observed. The
# bounds hold for the observed data; the estimate is their midpoint and is omitted where it would
# not be meaningful.

LEAD_METHOD = "half-of-likes-1"
"""Increase this with every change of the formula."""

SHARE = 0.5
"""The rise is the time at which this share of the last observed likes was reached."""
LEAST_DAYS = 3
"""Minimum number of days with an observation for an estimate."""
WIDEST_DAYS = 30.0
"""Bounds further apart than this are too wide for a meaningful midpoint."""

Direction = Literal["platform_first", "chart_first", "undecided"]
LeadReason = Literal[
    "no_observations",
    "no_likes",
    "too_few_observations",
    "entry_not_seen",
    "publication_unknown",
    "bounds_too_wide",
]
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartEntry:
    """The first stored issue with a song, and the last stored issue before it without the song.

    `after` is None if there is no earlier issue: the song may have been on the chart before.
    """

    day: date
    after: date | None

    @property
    def bounds(self) -> tuple[datetime | None, datetime]:
        """Earliest and latest time of the entry (UTC): issues have a date but no hour."""
        low = None if self.after is None else datetime.combine(self.after, time(), UTC)
        return low, datetime.combine(self.day, time(), UTC) + _DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoLikes:
    """The likes of one video: its publication time and its observations, oldest first."""

    published_at: datetime | None
    observations: tuple[tuple[datetime, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rise:
    """When half of the likes was reached: not before `after`, not later than `before`.

    `after` is None if videos with unknown publication time have too large a share of the likes.
    """

    digg_count: int
    after: datetime | None = None
    before: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """Days from rise to entry, positive if the platform was first; `reason` if `days` is null."""

    days: float | None = None
    low_days: float | None = None
    high_days: float | None = None
    direction: Direction | None = None
    reason: LeadReason | None = None
    work_count: int = 0
    observation_count: int = 0
    observed_day_count: int = 0


def find_entry(song_days: Iterable[date], issue_days: Sequence[date]) -> ChartEntry:
    """Find the chart entry of a song. `issue_days` are the days of all stored issues, unordered.

    The entry is into the stored part of the chart (its first twenty ranks), and as precise as the
    stored issues are dense.
    """
    first = min(song_days)
    return ChartEntry(
        day=first, after=max((day for day in issue_days if day < first), default=None)
    )


def find_rise(videos: Iterable[VideoLikes]) -> Rise:
    """Bound the time at which the videos had reached `SHARE` of their last observed likes.

    Likes gained between two observations were gained somewhere between them, the first ones
    between publication and the first observation. With all growth as early as possible, the share
    is reached at `after`; with all growth as late as possible, at `before`:

        after  = min { t : sum of growth that began by t >= SHARE * total }
        before = min { t : sum of growth that was observed by t >= SHARE * total }

    Undiscovered videos are not included, and the total is the current one: while a song still
    grows, its rise moves with it.
    """
    # Each piece of growth: its earliest start (None if unknown), when it was observed, its amount.
    pieces: list[tuple[datetime | None, datetime, int]] = []
    for video in videos:
        start, highest = video.published_at, 0
        for observed_at, likes in video.observations:
            if likes > highest:
                # A clock that runs ahead may state a publication after its own observation.
                start = None if start is None else min(start, observed_at)
                pieces.append((start, observed_at, likes - highest))
            # A count that falls is held at its maximum.
            start, highest = observed_at, max(highest, likes)
    total = sum(amount for _, _, amount in pieces)
    if total == 0:
        return Rise(digg_count=0)
    dated = [(start, amount) for start, _, amount in pieces if start is not None]
    undated = sum(amount for start, _, amount in pieces if start is None)
    threshold = SHARE * total
    return Rise(
        digg_count=total,
        # Growth without a start may have been the earliest, so it counts first.
        after=None if undated >= threshold else _reached(dated, threshold - undated),
        before=_reached([(observed_at, amount) for _, observed_at, amount in pieces], threshold),
    )


def estimate_lead(entry: ChartEntry, videos: Sequence[VideoLikes]) -> tuple[Lead, Rise]:
    """Estimate the lead of the platform over the chart; return it with the underlying rise.

        low  = earliest entry - latest rise
        high = latest entry - earliest rise
        days = (low + high) / 2, if both are known, at most `WIDEST_DAYS` apart, and the videos
               were observed on at least `LEAST_DAYS` days

    The lead is a temporal order, not a causal claim.
    """
    moments = [moment for video in videos for moment, _ in video.observations]
    rise = find_rise(videos)
    counted = Lead(
        work_count=sum(bool(video.observations) for video in videos),
        observation_count=len(moments),
        observed_day_count=len({moment.astimezone(UTC).date() for moment in moments}),
    )
    if rise.before is None:
        return replace(counted, reason="no_likes" if moments else "no_observations"), rise
    earliest, latest = entry.bounds
    low = None if earliest is None else (earliest - rise.before) / _DAY
    high = None if rise.after is None else (latest - rise.after) / _DAY
    reason = _omission_reason(low, high, counted.observed_day_count)
    middle = (low + high) / 2 if low is not None and high is not None else None
    return (
        replace(
            counted,
            days=middle if reason is None else None,
            low_days=low,
            high_days=high,
            direction=_direction(low, high),
            reason=reason,
        ),
        rise,
    )


def _reached(growth: Iterable[tuple[datetime, int]], threshold: float) -> datetime:
    """Return when the cumulative growth reaches `threshold`."""
    total = 0
    for moment, amount in sorted(growth):
        total += amount
        if total >= threshold:
            return moment
    raise ValueError("the growth never reaches the threshold")


def _omission_reason(low: float | None, high: float | None, days: int) -> LeadReason | None:
    if days < LEAST_DAYS:
        return "too_few_observations"
    if low is None:
        return "entry_not_seen"
    if high is None:
        return "publication_unknown"
    return "bounds_too_wide" if high - low > WIDEST_DAYS else None


def _direction(low: float | None, high: float | None) -> Direction | None:
    if low is not None and low > 0:
        return "platform_first"
    if high is not None and high < 0:
        return "chart_first"
    return None if low is None or high is None else "undecided"


METHOD = f"{LINK_METHOD} {LEAD_METHOD}"

type ObservedRow = ReadOnlyDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueRank:
    """The rank of a song in one stored issue."""

    day: date
    volid: str
    rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SongPositions:
    """A song with its positions in the stored issues, oldest first; at least one."""

    song: Song
    places: tuple[IssueRank, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionSummary:
    """The positions of a song in short."""

    issue_count: int
    best_rank: int
    first_chart_date: date
    last_chart_date: date


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredChart:
    """The stored chart: its songs by key and the sorted days of its issues."""

    songs: Mapping[str, SongPositions]
    days: tuple[date, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformComparison:
    """A song compared with videos of the platform: entry, rise, lead and observation times."""

    entry_after: date | None
    rise: Rise
    lead: Lead
    first_observed_at: datetime | None
    last_observed_at: datetime | None


def to_chart(rows: Iterable[ObservedRow], *, days: Iterable[date] = ()) -> StoredChart:
    """Build the chart from rows of positions, oldest first.

    Each row has `day, volid, rank, title, artist, song_hash`; a song keeps its latest title and
    artist. `days` adds issues that `rows` do not cover.
    """
    places: dict[str, dict[date, IssueRank]] = defaultdict(dict)
    latest: dict[str, ObservedRow] = {}
    all_days = set(days)
    for row in rows:
        all_days.add(row["day"])
        names = {name: row[name] for name in ("rank", "title", "artist", "song_hash")}
        key = song_key(ChartSong(**names))
        latest[key] = row
        # An issue may list a song twice: its best rank counts.
        place = places[key].get(row["day"])
        if place is None or row["rank"] < place.rank:
            places[key][row["day"]] = IssueRank(
                day=row["day"], volid=row["volid"], rank=row["rank"]
            )
    songs = {
        key: SongPositions(
            song=Song(song_key=key, title=row["title"], artist=row["artist"]),
            places=tuple(places[key][day] for day in sorted(places[key])),
        )
        for key, row in latest.items()
    }
    return StoredChart(songs=songs, days=tuple(sorted(all_days)))


def to_video_likes(rows: Iterable[ObservedRow]) -> list[VideoLikes]:
    """Build the likes of each video from rows of observations, oldest first.

    A video listed under two music ids is counted once.
    """
    likes: dict[str, dict[datetime, int]] = defaultdict(dict)
    published: dict[str, int | None] = {}
    for row in rows:
        published[row["aweme_id"]] = row["create_time"]
        likes[row["aweme_id"]][row["observed_at"]] = row["digg_count"]
    return [
        VideoLikes(
            # Seconds that no calendar has are as good as no publication time.
            published_at=None
            if create_time is None or create_time >= END_S
            else datetime.fromtimestamp(create_time, UTC),
            observations=tuple(sorted(likes[aweme_id].items())),
        )
        for aweme_id, create_time in published.items()
    ]


def compare_with_platform(
    positions: SongPositions, days: Sequence[date], videos: Sequence[VideoLikes]
) -> PlatformComparison:
    """Compare a song with the videos that carry it."""
    entry = find_entry([place.day for place in positions.places], days)
    lead, rise = estimate_lead(entry, videos)
    moments = [moment for video in videos for moment, _ in video.observations]
    return PlatformComparison(
        entry_after=entry.after,
        rise=rise,
        lead=lead,
        first_observed_at=min(moments, default=None),
        last_observed_at=max(moments, default=None),
    )


def to_platform_row(
    link: SongMatch,
    positions: SongPositions,
    comparison: PlatformComparison,
    sound: PlatformMusic | None,
) -> Document:
    """Return a row of `marts.chart_platform` without its commit time."""
    is_observed = comparison.first_observed_at is not None
    lead, rise = comparison.lead, comparison.rise
    return {
        **asdict(link),
        "title": positions.song.title,
        "artist": positions.song.artist,
        "music_title": None if sound is None else sound.title,
        "music_author": None if sound is None else sound.author,
        **asdict(summarize_positions(positions)),
        "entry_after_date": comparison.entry_after,
        "work_count": lead.work_count,
        "observation_count": lead.observation_count,
        "observed_day_count": lead.observed_day_count,
        "digg_count": rise.digg_count if is_observed else None,
        "first_observed_at": comparison.first_observed_at,
        "last_observed_at": comparison.last_observed_at,
        "rise_after": rise.after,
        "rise_before": rise.before,
        "lead_days": lead.days,
        "lead_low_days": lead.low_days,
        "lead_high_days": lead.high_days,
        "direction": lead.direction,
        "lead_reason": lead.reason,
        "method": METHOD,
    }


def summarize_positions(positions: SongPositions) -> PositionSummary:
    """Summarize the positions of a song: issue count, best rank, first and last date."""
    return PositionSummary(
        issue_count=len(positions.places),
        best_rank=min(place.rank for place in positions.places),
        first_chart_date=positions.places[0].day,
        last_chart_date=positions.places[-1].day,
    )
