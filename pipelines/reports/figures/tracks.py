"""What SQL does not say of a track in a few lines: its counts over time, tables of several."""

from collections.abc import Mapping

import pyarrow as pa

from pipelines.reads.series import COUNTS, TrackPoint, total_over_time


def add_up(observed: pa.Table, label: str) -> pa.Table:
    """Sum the counts of all videos observed so far, for each hour with an observation.

    A video is included from its first complete observation; before that its counts are unknown.
    `gained_likes` is what the same videos gained since then: a newly found one adds nothing to it.

    Args:
        observed: Complete observations in time order: time, video id and the four counts.
        label: The name of the track, in the first column.
    """
    found = observed.to_pylist()
    points = total_over_time((row["observed_at"], row["aweme_id"], row) for row in found)
    schema = pa.schema(
        [
            ("track", pa.string()),
            ("observed_at", pa.timestamp("us", tz="UTC")),
            ("observed_works", pa.int64()),
            *((name, pa.int64()) for name in COUNTS),
            ("gained_likes", pa.int64()),
            ("followed_works", pa.int64()),
        ]
    )
    rows = [_row(label, point) for point in points]
    return pa.Table.from_pylist(rows, schema=schema)


def join_by_track(tables: Mapping[str, pa.Table]) -> pa.Table:
    """Concatenate tables of several tracks, with the track as first column."""
    parts = [
        table.add_column(0, "track", pa.array([label] * table.num_rows, pa.string()))
        for label, table in tables.items()
    ]
    return pa.concat_tables(parts)


def _row(label: str, point: TrackPoint) -> dict[str, object]:
    return {
        "track": label,
        "observed_at": point.observed_at,
        "observed_works": point.values["work_count"],
        **{count: point.values[count] for count in COUNTS},
        "gained_likes": point.growth.values["digg_count"],
        "followed_works": point.growth.followed_count,
    }
