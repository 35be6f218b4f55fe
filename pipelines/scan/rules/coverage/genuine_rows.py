"""How many rows of a music list really use its music id.

The platform also lists videos of other sounds under a music id. A row that names its own music is
judged by that name, any other row by its detail page; a row without either is not counted.
"""

from collections.abc import Collection, Iterable, Mapping

from pipelines.scan.rules.candidate_pool import Sighting
from warehouse.records.coverage import ListGenuineShare

MUSIC_LIST = "music_list"


def genuine_shares(
    sightings: Iterable[Sighting],
    *,
    music_of: Mapping[str, str],
    heard: Collection[str] = frozenset(),
) -> list[ListGenuineShare]:
    """Return the share of each list with at least one row whose music is known, in reading order.

    Args:
        sightings: All sightings of a scan; those of music lists count, each video once per list.
        music_of: Music id of each video whose detail page was read.
        heard: Videos that were confirmed by audio.
    """
    rows: dict[str, dict[str, str]] = {}
    for seen in sightings:
        known = seen.music_id or music_of.get(seen.aweme_id)
        if seen.surface == MUSIC_LIST and known is not None:
            rows.setdefault(seen.entity_id, {})[seen.aweme_id] = known
    return [
        ListGenuineShare(
            music_id=music_id,
            rows=len(named),
            own_rows=sum(found == music_id for found in named.values()),
            audio_rows=sum(aweme_id in heard for aweme_id in named),
        )
        for music_id, named in rows.items()
    ]


def is_row_of(
    music_id: str | None, *, surface: str, entity_id: str, known: Collection[str]
) -> bool:
    """Return whether a listed video counts as one of the known music ids before it is confirmed.

    Its own music id decides. A row of a music list that names none is taken for the list's.
    """
    if music_id is not None:
        return music_id in known
    return surface == MUSIC_LIST and entity_id in known
