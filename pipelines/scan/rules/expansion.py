"""How a scan widens: group works by music id, pick who is heard, and say what a group became.

Pure. The loop that reads and listens is `pipelines/scan/confirm.py`; the numbers of a comparison
come from `pipelines/audio`.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pipelines.documents.videos import LinkType
from pipelines.scan.rules.titles import mentions
from warehouse.records.evidence import Comparison
from warehouse.records.videos import Video

REPRESENTATIVES = 2  # per music id, as the specification's verification rule 1 says
REFERENCES = 3
REFERENCE_TRIALS = 5  # heard, so that the cleanest three can be chosen
MOST_BATCHES = 3  # of works heard in place of silent ones, so that no music id costs a whole scan


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed:
    """A work that carries the recording, and why we say so."""

    video: Video
    link_type: LinkType
    expansion_round: int
    comparison: Comparison | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A work that carries the recording at another speed or pitch: never a confirmed one."""

    video: Video
    comparison: Comparison


def group_by_music(
    videos: Iterable[Video], *, settled: Collection[str]
) -> dict[str, tuple[Video, ...]]:
    """Works by music id, for ids that have no verdict yet. A work without music id has no group."""
    groups: dict[str, list[Video]] = defaultdict(list)
    for video in videos:
        if video.music is not None and video.music.music_id not in settled:
            groups[video.music.music_id].append(video)
    return {music_id: tuple(works) for music_id, works in groups.items()}


def listening_order(
    groups: Mapping[str, tuple[Video, ...]], *, title: str | None
) -> tuple[str, ...]:
    """Music ids in the order they are heard: those whose text names the song first, then larger
    groups first. The order only matters when a scan is cut short.
    """

    def rank(music_id: str) -> tuple[bool, int, str]:
        works = groups[music_id]
        named = any(_text_names(work, title) for work in works)
        return (not named, -len(works), music_id)

    return tuple(sorted(groups, key=rank))


def _text_names(work: Video, title: str | None) -> bool:
    sound = (work.music.title, work.music.mapped_title) if work.music else ()
    return mentions(title, (work.desc, *sound, *(tag.name for tag in work.hashtags)))


def works_to_hear(
    works: Iterable[Video], *, silent: Collection[str], limit: int
) -> tuple[Video, ...]:
    """The works that stand for a music id: videos before photo posts, then the most liked.

    `silent` names works whose sound is the platform's silent placeholder; they are never heard.
    """
    audible = [work for work in works if work.aweme_id not in silent]
    return tuple(sorted(audible, key=_hearing_rank)[:limit])


def batches_to_hear(
    works: Iterable[Video], *, silent: Collection[str], size: int
) -> tuple[tuple[Video, ...], ...]:
    """The works that stand for a music id, and those that replace them batch by batch where their
    sound cannot be compared. In the order of `works_to_hear`.
    """
    ordered = works_to_hear(works, silent=silent, limit=size * MOST_BATCHES)
    return tuple(ordered[begin : begin + size] for begin in range(0, len(ordered), size))


def _hearing_rank(work: Video) -> tuple[bool, int, str]:
    return (work.media_type == "photo", -(work.statistics.digg_count or 0), work.aweme_id)


def authors_to_scan(works: Iterable[Video], *, scanned: Collection[str]) -> tuple[str, ...]:
    """Accounts whose first screen was not read yet, those with most works of the track first."""
    counts = Counter(work.author.sec_uid for work in works if work.author is not None)
    fresh = [(sec_uid, n) for sec_uid, n in counts.items() if sec_uid not in scanned]
    return tuple(sec_uid for sec_uid, _ in sorted(fresh, key=lambda entry: (-entry[1], entry[0])))


def hashtags_to_scan(
    works: Sequence[Video], *, title: str | None, scanned: Collection[str]
) -> tuple[str, ...]:
    """Hashtags whose first screen was not read yet: those that name the song first, then those
    that several works share, most used first. A tag of one work that does not name the song would
    bring the works of strangers.
    """
    tags = {tag.ch_id: tag.name for work in works for tag in work.hashtags}
    counts = Counter(ch_id for work in works for ch_id in {tag.ch_id for tag in work.hashtags})
    named = {ch_id for ch_id, name in tags.items() if mentions(title, (name,))}
    fresh = [
        ch_id
        for ch_id, uses in counts.items()
        if ch_id not in scanned and (ch_id in named or uses > 1)
    ]
    return tuple(sorted(fresh, key=lambda ch_id: (ch_id not in named, -counts[ch_id], ch_id)))
