"""Rules for expanding a scan: group videos by music id, choose which to verify and what to read.

Not here: the loop that reads and verifies (`scan/confirm.py`), the comparison (`pipelines/audio`).
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pipelines.documents.result_types import LinkType
from pipelines.scan.rules.search import mentions, video_mentions
from warehouse.records.evidence import Comparison
from warehouse.records.videos import Video

REPRESENTATIVES = 2  # per music id, as the specification's verification rule 1 says
CANDIDATES_PER_LIST = 5
"""With a full pool, one list of a confirmed id is still read per so many places in the pool: its
videos do not become candidates, but their number is known."""
REFERENCES = 3
REFERENCE_TRIALS = 5  # measured, so that the cleanest three can be chosen
MOST_BATCHES = 3  # limits the replacements of silent videos, so that no id uses up the scan
DOUBTFUL_SCORE = 0.3
"""A rejected pair that scores less leaves no doubt; of 244 in two sandbox stores 241 did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackLink:
    """Why a video is confirmed: how it is linked to the track, and the evidence for it.

    `expansion_round` is the round that linked it, from 0. `comparison` is the proof of an audio
    link; a video of the track's own music id needs none.
    """

    link_type: LinkType
    expansion_round: int
    comparison: Comparison | None = None

    @property
    def reason(self) -> str:
        """The music id, or the rule that the video's own sound met."""
        if self.comparison is None:
            return "same_music_id"
        if self.link_type == "verified_music_id_graph":
            return "verified_music_id"
        return self.comparison.pair.reason


def credibility(comparison: Comparison) -> tuple[int, bool, float]:
    """Return the sort key of a pair: the most credible pair has the greatest."""
    return comparison.pair.credibility


def best_comparisons(comparisons: Iterable[Comparison]) -> dict[str, Comparison]:
    """Return the most credible comparison of each compared video, by its id."""
    # Of several entries of a video, the last one stays: the most credible.
    return {entry.candidate_aweme_id: entry for entry in sorted(comparisons, key=credibility)}


def version_comparisons(comparisons: Iterable[Comparison]) -> dict[str, Comparison]:
    """Return the pair of each video that most surely shows another performance, by the video's id.

    Only of videos without a match and without a shared part: these say more than a likeness.
    """
    pairs = sorted(comparisons, key=lambda entry: entry.pair.version_score or 0.0)
    more = {
        entry.candidate_aweme_id for entry in pairs if entry.pair.relation not in {"version", None}
    }
    return {
        entry.candidate_aweme_id: entry
        for entry in pairs
        if entry.pair.relation == "version" and entry.candidate_aweme_id not in more
    }


def link_versions(
    videos: Iterable[Video], comparisons: Sequence[Comparison]
) -> list[tuple[Video, Comparison]]:
    """Return the videos with another performance of the composition, the surest first.

    A video whose sound was not compared has the evidence of its music id.

    Args:
        videos: The candidates without a match.
        comparisons: All compared pairs of the scan.
    """
    compared = {
        entry.candidate_aweme_id for entry in comparisons if entry.pair.verdict != "not_comparable"
    }
    versions = version_comparisons(comparisons)
    # Of several videos of a music id, the surest stays: it comes last.
    of_music_id = {entry.candidate_music_id: entry for entry in versions.values()}
    linked = []
    for video in videos:
        music_id = video.music.music_id if video.music else None
        is_compared = video.aweme_id in compared
        entry = versions.get(video.aweme_id) if is_compared else of_music_id.get(music_id or "")
        if entry is not None:
            linked.append((video, entry))
    return sorted(
        linked, key=lambda entry: (-(entry[1].pair.version_score or 0.0), entry[0].aweme_id)
    )


def pairs_with_excerpts(comparisons: Iterable[Comparison]) -> list[Comparison]:
    """Return the pairs whose sounds users may want to judge: one per compared video.

    Confirmed videos and variants, versions, and rejections that were close. Most rejected pairs
    score below 0.1, so few of them cost an excerpt.
    """
    comparisons = list(comparisons)
    pairs = best_comparisons(comparisons) | version_comparisons(comparisons)
    return [
        comparison
        for comparison in pairs.values()
        if comparison.pair.relation is not None or (comparison.pair.score or 0.0) >= DOUBTFUL_SCORE
    ]


def link_video(
    video: Video,
    *,
    verified: Mapping[str, Comparison | None],
    own: Comparison | None,
    expansion_round: int,
) -> TrackLink | None:
    """Link a video to the track by what is verified, or return None.

    A video of another verified music id is linked by audio if it was compared itself, else by its
    music id. The same id does not prove that a video plays the sound: users mute and replace it.

    Args:
        video: A candidate.
        verified: Each music id that carries the track with its proof, None for the track's own.
        own: The comparison of this video, if its sound was compared.
        expansion_round: Round in which the video is linked, from 0.
    """
    music_id = video.music.music_id if video.music else None
    if music_id is None or music_id not in verified:
        return None
    comparison = verified[music_id]
    link_type: LinkType = "exact_music_id" if comparison is None else "verified_music_id_graph"
    # Under another music id than the track's, the video's own sound decides if it was compared.
    if comparison is not None and own is not None:
        if own.pair.verdict in {"rejected", "variant"}:
            return None
        if own.pair.verdict == "confirmed":
            link_type, comparison = "audio_fingerprint_match", own
    return TrackLink(link_type=link_type, expansion_round=expansion_round, comparison=comparison)


def variant_comparison(own: Comparison | None, of_group: Comparison | None) -> Comparison | None:
    """Return the comparison that makes a video a variant: its own if it was compared."""
    if own is None or own.pair.verdict == "not_comparable":
        return of_group
    return own if own.pair.verdict == "variant" else None


def group_by_music(
    videos: Iterable[Video], *, settled: Collection[str]
) -> dict[str, tuple[Video, ...]]:
    """Group videos by music id, skipping ids with a verdict and videos without music id."""
    groups: dict[str, list[Video]] = defaultdict(list)
    for video in videos:
        if video.music is not None and video.music.music_id not in settled:
            groups[video.music.music_id].append(video)
    return {music_id: tuple(posts) for music_id, posts in groups.items()}


def verification_order(
    groups: Mapping[str, tuple[Video, ...]], *, title: str | None
) -> tuple[str, ...]:
    """Return the music ids in the order of verification.

    Groups whose text names the song come first, then larger groups. The order only matters if a
    scan is cut short.
    """

    def rank(music_id: str) -> tuple[bool, int, str]:
        videos = groups[music_id]
        named = any(video_mentions(video, title) for video in videos)
        return (not named, -len(videos), music_id)

    return tuple(sorted(groups, key=rank))


def videos_to_verify(videos: Iterable[Video], *, limit: int) -> tuple[Video, ...]:
    """Return the posts that represent a music id: videos before photo posts, most liked first.

    Posts whose sound is the platform's silent placeholder are skipped.
    """

    def rank(video: Video) -> tuple[bool, int, str]:
        return (video.media_type == "photo", -(video.statistics.digg_count or 0), video.aweme_id)

    audible = [video for video in videos if not video.is_silent]
    return tuple(sorted(audible, key=rank)[:limit])


def verification_batches(videos: Iterable[Video], *, size: int) -> tuple[tuple[Video, ...], ...]:
    """Return the posts that represent a music id in batches, in the order of `videos_to_verify`.

    A later batch replaces an earlier one whose sounds cannot be compared.
    """
    ordered = videos_to_verify(videos, limit=size * MOST_BATCHES)
    return tuple(ordered[begin : begin + size] for begin in range(0, len(ordered), size))


def accounts_by_likes(videos: Iterable[Video]) -> tuple[str, ...]:
    """Return the accounts of videos as the account summary orders them: most linked likes first."""
    likes: dict[str, int] = {}
    for video in videos:
        if video.author is not None:
            sec_uid = video.author.sec_uid
            likes[sec_uid] = likes.get(sec_uid, 0) + (video.statistics.digg_count or 0)
    return tuple(sorted(likes, key=lambda sec_uid: (-likes[sec_uid], sec_uid)))


def authors_to_scan(videos: Iterable[Video], *, scanned: Collection[str]) -> tuple[str, ...]:
    """Return unread accounts, those with the most videos of the track first."""
    counts = Counter(video.author.sec_uid for video in videos if video.author is not None)
    fresh = [(sec_uid, n) for sec_uid, n in counts.items() if sec_uid not in scanned]
    return tuple(sec_uid for sec_uid, _ in sorted(fresh, key=lambda entry: (-entry[1], entry[0])))


def hashtags_to_scan(
    videos: Sequence[Video], *, title: str | None, scanned: Collection[str]
) -> tuple[str, ...]:
    """Return unread hashtags: those that name the song first, then shared ones, most used first.

    A tag of a single video that does not name the song is skipped: it would bring unrelated videos.
    """
    tags = {tag.ch_id: tag.name for video in videos for tag in video.hashtags or ()}
    # A video counts once for a hashtag, however often it repeats it.
    counts = Counter(
        ch_id for video in videos for ch_id in {tag.ch_id for tag in video.hashtags or ()}
    )
    named = {ch_id for ch_id, name in tags.items() if mentions(title, (name,))}
    fresh = [
        ch_id
        for ch_id, uses in counts.items()
        if ch_id not in scanned and (ch_id in named or uses > 1)
    ]
    return tuple(sorted(fresh, key=lambda ch_id: (ch_id not in named, -counts[ch_id], ch_id)))
