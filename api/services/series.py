"""Time series of a video, a track or an account.

Blocks. Not here: HTTP, SQL (`warehouse/queries/series.py`), what a point is
(`pipelines/reads/series.py`).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from api.schemas.extensions.exports import Series, SeriesPoint, TrackGrowth
from pipelines.documents.videos import to_time
from pipelines.reads.series import (
    COUNTS,
    MEASURES,
    FollowedGrowth,
    Point,
    SeriesKind,
    TrackPoint,
    to_point,
    total_over_time,
    with_jobs,
)
from warehouse.engine.duckdb_engine import Engine
from warehouse.queries.results import read_latest_track
from warehouse.queries.series import read_account_series, read_track_series, read_video_series
from warehouse.records.values import Row


def read_series(engine: Engine, kind: SeriesKind, entity_id: str, *, is_demo: bool) -> Series:
    """Return the points of one entity, oldest first; empty if it was never observed."""
    name, points = _READERS[kind](engine, entity_id)
    return {
        "kind": kind,
        "id": entity_id,
        "name": name,
        "measures": list(MEASURES[kind]),
        "points": [_document(point) for point in points],
        "returned_count": len(points),
        "is_demo_data": is_demo,
    }


def growth_document(growth: FollowedGrowth) -> TrackGrowth:
    """Return the growth of a track up to one point, as the API answers it."""
    return {
        "gained": dict(growth.values),
        "followed_work_count": growth.followed_count,
        "new_work_count": growth.new_count,
    }


def _document(point: Point) -> SeriesPoint:
    document = {
        "observed_at": to_time(point.observed_at),
        "surface": point.surface,
        **point.values,
        "is_exact": point.is_exact,
        "ranges": {name: list(found) for name, found in point.ranges.items()} or None,
        "job_ids": list(point.job_ids),
        **({"growth": growth_document(point.growth)} if isinstance(point, TrackPoint) else {}),
    }
    return cast("SeriesPoint", document)  # `values` has the measures of its kind


def _points(rows: list[Row], kind: SeriesKind) -> tuple[str | None, list[Point]]:
    points = [
        to_point(
            row["observed_at"],
            {name: row[name] for name in MEASURES[kind]},
            surface=row["surface"],
            is_exact=row["is_exact"],
            job_id=row["job_id"],
        )
        for row in rows
    ]
    return next((row["name"] for row in reversed(rows) if row["name"]), None), points


def _video(engine: Engine, aweme_id: str) -> tuple[str | None, list[Point]]:
    return _points(read_video_series(engine, aweme_id), "video")


def _account(engine: Engine, sec_uid: str) -> tuple[str | None, list[Point]]:
    return _points(read_account_series(engine, sec_uid), "account")


def _track(engine: Engine, music_id: str) -> tuple[str | None, list[TrackPoint]]:
    track = read_latest_track(engine, music_id)
    rows = read_track_series(engine, music_id)
    points = total_over_time(
        (row["observed_at"], row["aweme_id"], {name: row[name] for name in COUNTS}) for row in rows
    )
    reads = ((row["observed_at"], row["job_id"]) for row in rows)
    return None if track is None else track.title, with_jobs(points, reads)


type _Read = Callable[[Engine, str], tuple[str | None, Sequence[Point]]]
_READERS: Mapping[SeriesKind, _Read] = {"video": _video, "account": _account, "track": _track}
