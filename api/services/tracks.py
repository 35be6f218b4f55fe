"""The page of a track: what the stores know of a music id, from all scans. Blocks.

Not here: HTTP, SQL (`warehouse/queries/tracks.py`). No request is made: a scan reads the platform.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from api.responses.errors import NotFoundError
from api.schemas.extensions import tracks as schemas
from api.schemas.extensions.exports import NoteDocument
from pipelines.documents.result_types import TrackDocument
from pipelines.documents.videos import to_document, to_time, to_track_document
from warehouse.control import ControlStore, notes
from warehouse.engine.duckdb_engine import Engine
from warehouse.queries import tracks as queries
from warehouse.queries.results import read_latest_track
from warehouse.records.values import ReadOnlyRow, Row

PATH = "/api/v1/sametrack/tracks"
MOST_CREATORS = 10
_REGION_LABEL = re.compile(r"^IP属地\s*[:：]\s*")
"""What the platform writes before a region."""


@dataclass(frozen=True, eq=False)
class TrackService:
    """Pages of tracks from the opened stores. `is_demo` marks demo data."""

    engine: Engine
    control: ControlStore
    is_demo: bool

    def page(self, music_id: str) -> schemas.TrackPage:
        """Return what is stored of a track: counts, scans, creators, regions, variants, note.

        Raises:
            NotFoundError: Nothing was observed of this music id.
        """
        self.engine.refresh()
        names = queries.read_track_names(self.engine, music_id)
        if names is None:
            raise NotFoundError(
                f"Nothing is stored of the music id {music_id}",
                hint="Scan it first, by this id or by a share link, or check the id",
            )
        music_ids = queries.read_music_ids(self.engine, music_id)
        usage = queries.read_usage(self.engine, music_id)
        creators = queries.read_creators(self.engine, music_id)
        total = _summed(music_ids)
        return {
            "music_id": music_id,
            "title": names["title"],
            "artist": names["artist"],
            "music": self._music(music_id, names),
            "music_ids": {
                "official": _summed(
                    [row for row in music_ids if row["is_original_sound"] is False]
                ),
                "user_made": _summed([row for row in music_ids if row["is_original_sound"]]),
                "unknown": _summed([row for row in music_ids if row["is_original_sound"] is None]),
            },
            "use_count": total["use_count"],
            "use_count_exact": total["use_count_exact"],
            "uncounted_music_id_count": total["music_id_count"] - total["counted_music_id_count"],
            "usage": {
                "points": [
                    to_document(schemas.UsagePoint, row, range=_range(row)) for row in usage
                ],
                "returned_count": len(usage),
            },
            "videos": [
                to_document(schemas.TrackVideoPoint, row)
                for row in queries.read_video_counts(self.engine, music_id)
            ],
            "scans": [
                to_document(schemas.TrackScan, row)
                for row in queries.read_scans(self.engine, music_id)
            ],
            "account_count": len(creators),
            "first_creators": [
                to_document(schemas.TrackCreator, row) for row in creators[:MOST_CREATORS]
            ],
            "biggest_creators": [
                to_document(schemas.TrackCreator, row) for row in _biggest(creators)
            ],
            "regions": _regions(creators),
            "variants": _variants(queries.read_variants(self.engine, music_id)),
            "note": self._note(music_id),
            "coverage_complete": False,
            "is_demo_data": self.is_demo,
        }

    def _note(self, music_id: str) -> NoteDocument | None:
        stored = notes.newest(self.control, kind="track", entity_id=music_id, limit=1)
        if not stored:
            return None
        return to_document(NoteDocument, stored[0], id=music_id, note=stored[0].text)

    def _music(self, music_id: str, newest: ReadOnlyRow) -> TrackDocument | None:
        """Return the track as its page showed it last, with the newest count of any page."""
        track = read_latest_track(self.engine, music_id)
        if track is None:
            return None
        return {
            **to_track_document(track),
            "use_count": newest["use_count"],
            "use_count_exact": newest["use_count_exact"],
            "use_count_observed_at": to_time(newest["use_count_observed_at"]),
        }


def _range(row: ReadOnlyRow) -> list[int] | None:
    """Return where a rounded count lies: the platform may round down or to the nearest step."""
    step = row["use_count_step"]
    return None if step is None else [row["use_count"] - step // 2, row["use_count"] + step]


def _summed(rows: Sequence[Row]) -> schemas.TrackMusicIds:
    """Return music ids with the sum of the counts that are known; a sum of nothing is unknown."""
    counted = [row for row in rows if row["use_count"] is not None]
    return {
        "music_ids": [to_document(schemas.TrackMusicId, row) for row in rows],
        "music_id_count": len(rows),
        "counted_music_id_count": len(counted),
        "use_count": sum(row["use_count"] for row in counted) if counted else None,
        "use_count_exact": all(row["use_count_exact"] for row in counted) if counted else None,
    }


def _biggest(creators: Sequence[Row]) -> list[Row]:
    """Return the accounts with most followers; those with an unknown number are left out."""
    followed = [row for row in creators if row["follower_count"] is not None]
    return sorted(followed, key=lambda row: (-row["follower_count"], row["sec_uid"]))[
        :MOST_CREATORS
    ]


def _regions(creators: Sequence[Row]) -> list[schemas.TrackRegion]:
    """Return how many accounts show each region, most first; those without one are last."""
    counts = Counter(
        _REGION_LABEL.sub("", row["ip_location"] or "").strip() or None for row in creators
    )
    ordered = sorted(counts, key=lambda place: (place is None, -counts[place], place or ""))
    return [{"ip_location": place, "account_count": counts[place]} for place in ordered]


def _variants(rows: Sequence[Row]) -> schemas.TrackVariants:
    return {
        "count": len(rows),
        "by_kind": dict(Counter(row["kind"] for row in rows).most_common()),
        "videos": [to_document(schemas.TrackVariant, row) for row in rows[: queries.MOST_VARIANTS]],
    }
