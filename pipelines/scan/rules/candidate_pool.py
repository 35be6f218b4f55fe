"""The candidate pool: which of the videos seen are worth a detail page, and in what order.

Nothing is confirmed here. Works of a music id that is already known to carry the track go first,
up to `SAME_MUSIC_SHARE` of the room, so that works under other music ids are looked at too; then
posts whose text names the song, then the rest of the known ids. Posts that name nothing come last
and only by half the room at a time (`choose_others`), so that an id verified through one of them
still finds room for its other works.
"""

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from pipelines.scan.rules.titles import mentions

OTHERS_AT_LEAST = 25
SAME_MUSIC_SHARE = 0.6  # leaves room for other music ids however popular the id itself is


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A video as a list showed it: enough to decide whether to read its detail page."""

    aweme_id: str
    surface: str
    entity_id: str
    same_music: bool
    desc: str | None = None
    hashtag_names: tuple[str, ...] = field(default=())
    digg_count: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A sighting taken into the pool. `priority` orders the detail reads, higher first."""

    sighting: Sighting
    priority: float


def choose_candidates(
    sightings: Iterable[Sighting],
    *,
    title: str | None,
    limit: int,
    pooled: Collection[str] = (),
) -> tuple[Candidate, ...]:
    """Choose what has a reason to enter the pool, best first.

    Args:
        sightings: Everything that lists showed, the same video possibly more than once.
        title: Title of the track, for the text relation.
        limit: Size of the whole pool.
        pooled: Ids that are in the pool already; they count towards the limit.
    """
    fresh = [seen for seen in distinct(sightings) if seen.aweme_id not in pooled]
    room = max(0, limit - len(pooled))
    reserved = math.ceil(room * SAME_MUSIC_SHARE)
    same = [seen for seen in fresh if seen.same_music]
    named = _by_likes(seen for seen in fresh if not seen.same_music and _named(seen, title))
    return _candidates((same[:reserved], named, same[reserved:]), first_tier=0)[:room]


def choose_others(
    sightings: Iterable[Sighting], *, limit: int, pooled: Collection[str]
) -> tuple[Candidate, ...]:
    """Choose among the posts that give no reason, most liked first: half of the room, or all of a
    small one, because every further round costs its own requests and commits.
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
    """One sighting per video in first-seen order; a same-music sighting replaces another."""
    best: dict[str, Sighting] = {}
    for seen in sightings:
        held = best.get(seen.aweme_id)
        if held is None or (seen.same_music and not held.same_music):
            best[seen.aweme_id] = seen
    return list(best.values())


def _named(seen: Sighting, title: str | None) -> bool:
    return mentions(title, (seen.desc, *seen.hashtag_names))


def _by_likes(sightings: Iterable[Sighting]) -> list[Sighting]:
    return sorted(sightings, key=lambda seen: (-(seen.digg_count or 0), seen.aweme_id))


def _priority(tier: int, place: int) -> float:
    return round(4 - tier - place / 1_000_000, 6)
