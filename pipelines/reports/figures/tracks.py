"""Tables of tracks that SQL cannot make in a few lines: counts over time, several tracks."""

from collections.abc import Mapping

import pyarrow as pa

from pipelines.reads.series import total_over_time
from warehouse.records.videos import COUNTS


def add_up(observed: pa.Table, label: str) -> pa.Table:
    """Sum the counts of all videos observed so far, for each hour with an observation.

    A video is included from its first complete observation; before that its counts are unknown.
    `gained_likes` is what the same videos gained since then: a newly found one adds nothing to it.

    Args:
        observed: Complete observations in time order: time, video id and the four counts.
        label: The name of the track, in the first column.
    """
    points = total_over_time(
        (row["observed_at"], row["aweme_id"], row) for row in observed.to_pylist()
    )
    # The types are given, because a column whose first values are unknown would have none.
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
    rows = [
        {
            "track": label,
            "observed_at": point.observed_at,
            "observed_works": point.values["work_count"],
            **{count: point.values[count] for count in COUNTS},
            "gained_likes": point.growth.values["digg_count"],
            "followed_works": point.growth.followed_count,
        }
        for point in points
    ]
    return pa.Table.from_pylist(rows, schema=schema)


def join_by_track(tables: Mapping[str, pa.Table]) -> pa.Table:
    """Concatenate tables of several tracks, with the track as first column."""
    parts = [
        table.add_column(0, "track", pa.array([label] * table.num_rows, pa.string()))
        for label, table in tables.items()
    ]
    return pa.concat_tables(parts)
