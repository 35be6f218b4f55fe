"""Rows of lists, and the candidate pool: which of their videos get a detail page, in which order.

Nothing is confirmed here. Videos of verified music ids come first, up to `SAME_MUSIC_SHARE` of
the free places, so that videos of other music ids are checked too; then videos whose sound another
track's scan has fetched and that matched this track's reference, then posts whose text names the
song, then the rest of the verified ids. Unrelated posts come last and take at most half of the
free places at a time (`choose_others`), so that an id verified through one of them still finds
places for its other videos.
"""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from pipelines.scan.rules.search import mentions
from warehouse.records.coverage import ListGenuineShare

OTHERS_AT_LEAST = 25
MUSIC_LIST = "music_list"
KNOWN_MATCHES = "catalog_matches"
"""Surface of videos that scans of other tracks have found. It is no source that was drawn from."""
SAME_MUSIC_SHARE = 0.6  # leaves places for other music ids however popular the id itself is


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A video as it appears in a list: enough to decide whether to read its detail page.

    `music_id` is the one that the list names for it, if it names one. `priority` orders the detail
    reads of the pool, higher first; it is 0 for a video that was not chosen.
    """

    aweme_id: str
    surface: str
    entity_id: str
    same_music: bool
    music_id: str | None = None
    desc: str | None = None
    hashtag_names: tuple[str, ...] = field(default=())
    digg_count: int | None = None
    priority: float = 0.0

    def mentions(self, title: str | None) -> bool:
        """Whether its text contains a full name of the song."""
        return mentions(title, (self.desc, *self.hashtag_names))


def reserved_places(places: int) -> int:
    """Return how many of these places verified music ids may take before anything else."""
    return math.ceil(places * SAME_MUSIC_SHARE)


def choose_candidates(
    sightings: Iterable[Sighting],
    *,
    title: str | None,
    limit: int,
    pooled: Collection[str] = (),
) -> tuple[Sighting, ...]:
    """Choose the sightings related to the song, best first.

    Args:
        sightings: All sightings; a video may occur several times.
        title: Title of the track, for the text relation.
        limit: Size of the whole pool.
        pooled: Ids already in the pool; they count towards the limit.
    """
    sightings = list(sightings)
    matched_ids = {entry.aweme_id for entry in sightings if entry.surface == KNOWN_MATCHES}
    new = [entry for entry in distinct(sightings) if entry.aweme_id not in pooled]
    room = max(0, limit - len(pooled))
    reserved = reserved_places(room)
    same = [entry for entry in new if entry.same_music]
    others = [entry for entry in new if not entry.same_music]
    matches = [entry for entry in others if entry.aweme_id in matched_ids]
    naming = _by_likes(
        entry for entry in others if entry.aweme_id not in matched_ids and entry.mentions(title)
    )
    # Verified music ids fill the places that nothing else takes.
    tiers = (same[:reserved], [*matches, *naming], same[reserved:])
    return _candidates(tiers, first_tier=0)[:room]


def choose_others(
    sightings: Iterable[Sighting], *, limit: int, pooled: Collection[str]
) -> tuple[Sighting, ...]:
    """Choose among the remaining posts, most liked first.

    Takes half of the free places, or all of a few, because every further round costs requests and
    commits.
    """
    new = [entry for entry in distinct(sightings) if entry.aweme_id not in pooled]
    room = max(0, limit - len(pooled))
    most = min(room, max(math.ceil(room / 2), OTHERS_AT_LEAST))
    return _candidates((_by_likes(new),), first_tier=3)[:most]


def _candidates(tiers: tuple[list[Sighting], ...], *, first_tier: int) -> tuple[Sighting, ...]:
    """Return the sightings with their priority, which falls with the tier, then with the place."""
    return tuple(
        replace(entry, priority=round(4 - tier - place / 1_000_000, 6))
        for tier, entries in enumerate(tiers, start=first_tier)
        for place, entry in enumerate(entries)
    )


def distinct(sightings: Iterable[Sighting]) -> list[Sighting]:
    """Return one sighting per video in first-seen order, preferring same-music sightings."""
    best: dict[str, Sighting] = {}
    for entry in sightings:
        earlier = best.get(entry.aweme_id)
        if earlier is None or (entry.same_music and not earlier.same_music):
            best[entry.aweme_id] = entry
    return list(best.values())


def _by_likes(sightings: Iterable[Sighting]) -> list[Sighting]:
    return sorted(sightings, key=lambda entry: (-(entry.digg_count or 0), entry.aweme_id))


def is_row_of(
    music_id: str | None, *, surface: str, entity_id: str, music_ids: Collection[str]
) -> bool:
    """Return whether a listed video counts as one of these music ids before it is confirmed.

    Its own music id decides. A row of a music list that names no music id is taken for the list's.
    """
    if music_id is not None:
        return music_id in music_ids
    return surface == MUSIC_LIST and entity_id in music_ids


def genuine_shares(
    sightings: Iterable[Sighting],
    *,
    music_of: Mapping[str, str],
    matched_by_audio: Collection[str] = frozenset(),
) -> list[ListGenuineShare]:
    """Return for each music list how many rows really use its music id, in reading order.

    The platform also lists videos of other sounds under a music id. A row that names its own music
    is judged by that name, any other row by its detail page; a row without either is not counted,
    and a list without any counted row is left out.

    Args:
        sightings: All sightings of a scan; those of music lists count, each video once per list.
        music_of: Music id of each video whose detail page was read.
        matched_by_audio: Videos that were confirmed by audio.
    """
    rows: dict[str, dict[str, str]] = {}
    for entry in sightings:
        music_id = entry.music_id or music_of.get(entry.aweme_id)
        if entry.surface == MUSIC_LIST and music_id is not None:
            rows.setdefault(entry.entity_id, {})[entry.aweme_id] = music_id
    return [
        ListGenuineShare(
            music_id=list_id,
            rows=len(music_ids),
            own_rows=sum(music_id == list_id for music_id in music_ids.values()),
            audio_rows=sum(aweme_id in matched_by_audio for aweme_id in music_ids),
        )
        for list_id, music_ids in rows.items()
    ]
