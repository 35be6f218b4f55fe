"""Typed reads of single works with what a request needs to know of each.

Here: SQL and the shape of its answer, as in `queries`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from pipelines.domain.records import Video
from warehouse.engine import Engine
from warehouse.rows import video_from_row


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownDetail:
    """The best observation of a work: the newest with four exact counts, else the newest one.

    `is_fresh`: it has all counts and is young enough to be served.
    """

    video: Video
    first_observed_at: datetime
    is_fresh: bool


def read_details(
    engine: Engine, aweme_ids: Sequence[str], *, max_age_s: float
) -> Mapping[str, KnownDetail]:
    """Per work its best observation. Works never observed are absent."""
    rows = engine.rows(
        """
        select *, min(observed_at) over (partition by aweme_id) as first_observed_at
        from seen.videos
        where aweme_id in (select unnest($ids::varchar[]))
        qualify row_number() over (
            partition by aweme_id
            order by statistics_complete desc, observed_at desc, committed_at desc
        ) = 1
        """,
        {"ids": list(aweme_ids)},
    )
    oldest = datetime.now(UTC) - timedelta(seconds=max_age_s)
    found = {}
    for row in cast("list[dict[str, Any]]", rows):
        video = video_from_row(row)
        found[video.aweme_id] = KnownDetail(
            video=video,
            first_observed_at=row["first_observed_at"],
            is_fresh=video.statistics_complete and video.observed_at >= oldest,
        )
    return found
