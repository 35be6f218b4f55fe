"""The candidate pool: which listed videos get a detail page, and in which order.

Nothing is confirmed here. Videos of verified music ids come first, up to `SAME_MUSIC_SHARE` of
the free places, so that videos of other music ids are checked too; then videos whose sound another
track's scan has fetched and that matched this track's reference, then posts whose text names the
song, then the rest of the verified ids. Unrelated posts come last and take at most half of the
free places at a time (`choose_others`), so that an id verified through one of them still finds
places for its other videos.
"""

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from pipelines.scan.rules.titles import mentions

OTHERS_AT_LEAST = 25
KNOWN_MATCHES = "catalog_matches"
"""Surface of videos that scans of other tracks have found. It is no source that was drawn from."""
SAME_MUSIC_SHARE = 0.6  # leaves places for other music ids however popular the id itself is


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A video as it appears in a list: enough to decide whether to read its detail page.

    `music_id` is the one that the list names for it, if it names one.
    """

    aweme_id: str
    surface: str
    entity_id: str
    same_music: bool
    music_id: str | None = None
    desc: str | None = None
    hashtag_names: tuple[str, ...] = field(default=())
    digg_count: int | None = None

    def mentions(self, title: str | None) -> bool:
        """Whether its text contains a full name of the song."""
        return mentions(title, (self.desc, *self.hashtag_names))


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A sighting in the pool. `priority` orders the detail reads, higher first."""

    sighting: Sighting
    priority: float


def reserved_places(places: int) -> int:
    """Return how many of these places verified music ids may take before anything else."""
    return math.ceil(places * SAME_MUSIC_SHARE)


def choose_candidates(
    sightings: Iterable[Sighting],
    *,
    title: str | None,
    limit: int,
    pooled: Collection[str] = (),
) -> tuple[Candidate, ...]:
    """Choose the sightings related to the song, best first.

    Args:
        sightings: All sightings; a video may occur several times.
        title: Title of the track, for the text relation.
        limit: Size of the whole pool.
        pooled: Ids already in the pool; they count towards the limit.
    """
    sightings = list(sightings)
    matched = {seen.aweme_id for seen in sightings if seen.surface == KNOWN_MATCHES}
    fresh = [seen for seen in distinct(sightings) if seen.aweme_id not in pooled]
    room = max(0, limit - len(pooled))
    reserved = reserved_places(room)
    same = [seen for seen in fresh if seen.same_music]
    others = [seen for seen in fresh if not seen.same_music]
    known = [seen for seen in others if seen.aweme_id in matched]
    named = _by_likes(
        seen for seen in others if seen.aweme_id not in matched and seen.mentions(title)
    )
    return _candidates((same[:reserved], [*known, *named], same[reserved:]), first_tier=0)[:room]


def choose_others(
    sightings: Iterable[Sighting], *, limit: int, pooled: Collection[str]
) -> tuple[Candidate, ...]:
    """Choose among the remaining posts, most liked first.

    Takes half of the free places, or all of a few, because every further round costs requests and
    commits.
    """
    fresh = [seen for seen in distinct(sightings) if seen.aweme_id not in pooled]
    room = max(0, limit - len(pooled))
    return _candidates((_by_likes(fresh),), first_tier=3)[
        : min(room, max(math.ceil(room / 2), OTHERS_AT_LEAST))
    ]


def _candidates(tiers: tuple[list[Sighting], ...], *, first_tier: int) -> tuple[Candidate, ...]:
    return tuple(
        Candidate(sighting=seen, priority=_priority(tier, place))
        for tier, members in enumerate(tiers, start=first_tier)
        for place, seen in enumerate(members)
    )


def distinct(sightings: Iterable[Sighting]) -> list[Sighting]:
    """Return one sighting per video in first-seen order, preferring same-music sightings."""
    best: dict[str, Sighting] = {}
    for seen in sightings:
        held = best.get(seen.aweme_id)
        if held is None or (seen.same_music and not held.same_music):
            best[seen.aweme_id] = seen
    return list(best.values())


def _by_likes(sightings: Iterable[Sighting]) -> list[Sighting]:
    return sorted(sightings, key=lambda seen: (-(seen.digg_count or 0), seen.aweme_id))


def _priority(tier: int, place: int) -> float:
    return round(4 - tier - place / 1_000_000, 6)
