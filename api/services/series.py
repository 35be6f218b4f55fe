"""Time series of a video, a track or an account.

Blocks. Not here: HTTP, SQL (`warehouse/queries/charts.py`), what a point is
(`pipelines/reads/series.py`).
"""

from collections.abc import Sequence
from typing import cast

from api.schemas.extensions.exports import Series, SeriesPoint, TrackGrowth
from pipelines.documents.videos import to_time
from pipelines.reads import series
from warehouse.engine.duckdb_engine import Engine
from warehouse.queries.charts import read_account_series, read_track_series, read_video_series
from warehouse.queries.results import read_latest_track
from warehouse.records.videos import COUNTS


def read_series(
    engine: Engine, kind: series.SeriesKind, entity_id: str, *, is_demo: bool
) -> Series:
    """Return the points of one entity, oldest first; empty if it was never observed."""
    points: Sequence[series.Point]
    if kind == "track":
        # A track has no counts of its own: those of its videos are summed.
        track = read_latest_track(engine, entity_id)
        name = None if track is None else track.title
        rows = read_track_series(engine, entity_id)
        observations = (
            (row["observed_at"], row["aweme_id"], {count: row[count] for count in COUNTS})
            for row in rows
        )
        reads = ((row["observed_at"], row["job_id"]) for row in rows)
        points = series.with_jobs(series.total_over_time(observations), reads)
    else:
        read_rows = read_video_series if kind == "video" else read_account_series
        rows = read_rows(engine, entity_id)
        # The newest name: an account may have changed it.
        name = next((row["name"] for row in reversed(rows) if row["name"]), None)
        points = [
            series.to_point(
                row["observed_at"],
                {measure: row[measure] for measure in series.MEASURES[kind]},
                surface=row["surface"],
                is_exact=row["is_exact"],
                job_id=row["job_id"],
            )
            for row in rows
        ]
    return {
        "kind": kind,
        "id": entity_id,
        "name": name,
        "measures": list(series.MEASURES[kind]),
        "points": [_point_document(point) for point in points],
        "returned_count": len(points),
        "is_demo_data": is_demo,
    }


def growth_document(growth: series.FollowedGrowth) -> TrackGrowth:
    """Return the growth of a track up to one point, as the API answers it."""
    return {
        "gained": dict(growth.values),
        "followed_work_count": growth.followed_count,
        "new_work_count": growth.new_count,
    }


def _point_document(point: series.Point) -> SeriesPoint:
    document = {
        "observed_at": to_time(point.observed_at),
        "surface": point.surface,
        **point.values,
        "is_exact": point.is_exact,
        "ranges": {name: list(bounds) for name, bounds in point.ranges.items()} or None,
        "job_ids": list(point.job_ids),
        **(
            {"growth": growth_document(point.growth)}
            if isinstance(point, series.TrackPoint)
            else {}
        ),
    }
    return cast("SeriesPoint", document)  # `values` has the measures of its kind
