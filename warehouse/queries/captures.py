"""Queries of single captures and their observations, and of the whole archive.

Parsing archived bodies again is in `pipelines.captures.replay`.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Literal

from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.record_rows import video_from_row
from warehouse.records.values import Row
from warehouse.records.videos import Video

ObservationTable = Literal[
    "videos", "tracks", "accounts", "hashtags", "search_pages", "chart_issues", "chart_songs"
]
_ORDER: dict[ObservationTable, str] = {
    "videos": "aweme_id",
    "tracks": "music_id",
    "accounts": "sec_uid",
    "hashtags": "ch_id",
    "search_pages": "cursor",
    "chart_issues": "chart_date desc nulls last, volid desc",
    "chart_songs": "rank",
}
OBSERVATION_TABLES: tuple[ObservationTable, ...] = tuple(_ORDER)


def read_capture(engine: Engine, capture_id: str) -> Row | None:
    """Return the row of a capture, or None until it is complete."""
    found = engine.rows("select * from raw.captures where capture_id = $id", id=capture_id)
    return found[0] if found else None


def read_observations(
    engine: Engine, table: ObservationTable, capture_ids: Sequence[str]
) -> dict[str, list[Row]]:
    """Return rows of `raw.<table>` by their capture. Captures without rows are absent."""
    found = engine.rows(
        f"""
        select * from raw.{table}
        where capture_id in (select unnest($ids::varchar[]))
        order by capture_id, {_ORDER[table]}
        """,  # noqa: S608  # both are constants of this module
        ids=list(capture_ids),
    )
    by_capture: dict[str, list[Row]] = {}
    for row in found:
        by_capture.setdefault(row["capture_id"], []).append(row)
    return by_capture


def read_page_videos(engine: Engine, capture_id: str) -> tuple[Video, ...]:
    """Return the videos of a captured page, in display order."""
    found = engine.rows(
        """
        select videos.* from raw.capture_items as items
        join raw.videos as videos using (capture_id, aweme_id)
        where items.capture_id = $id
        qualify row_number() over (partition by items.position order by videos.committed_at) = 1
        order by items.position
        """,
        id=capture_id,
    )
    return tuple(video_from_row(row) for row in found)


def read_payload(engine: Engine, sha256: str) -> bytes | None:
    """Return a compressed body by its hash, or None if it is not stored."""
    return read_payloads(engine, [sha256]).get(sha256)


def read_payloads(engine: Engine, sha256s: Sequence[str]) -> dict[str, bytes]:
    """Return compressed bodies by their hash. Bodies deleted by retention are absent."""
    found = engine.rows(
        """
        select sha256, body from raw.payloads
        where sha256 in (select unnest($hashes::varchar[]))
        """,
        hashes=list(sha256s),
    )
    return {row["sha256"]: bytes(row["body"]) for row in found}


# A replayed capture has the same surface, entity, sequence and body: the newest row counts.
_ARCHIVE = """
    select * from raw.captures
    where payload_sha256 is not null
        and ($since::timestamptz is null or observed_at >= $since)
        and (len($surfaces::varchar[]) = 0 or surface in (select unnest($surfaces::varchar[])))
    qualify row_number() over (
        partition by surface, entity_id, sequence, payload_sha256 order by committed_at desc
    ) = 1
"""


def read_archive(
    engine: Engine,
    *,
    since: datetime | None = None,
    surfaces: Sequence[str] = (),
    batch: int = 100,
) -> Iterator[list[Row]]:
    """Yield every capture with a body, oldest first, in batches; of replayed ones the newest row.

    `surfaces` empty: all surfaces.
    """
    after: Row = {"observed_at": None, "capture_id": ""}
    while True:
        found = engine.rows(
            f"""
            with archive as ({_ARCHIVE})
            select * from archive
            where $at::timestamptz is null or (observed_at, capture_id) > ($at, $id)
            order by observed_at, capture_id limit $batch
            """,  # noqa: S608  # a constant of this module
            since=since,
            surfaces=list(surfaces),
            at=after["observed_at"],
            id=after["capture_id"],
            batch=batch,
        )
        if not found:
            return
        yield found
        after = found[-1]


def count_archive(
    engine: Engine, *, since: datetime | None = None, surfaces: Sequence[str] = ()
) -> int:
    """Return how many captures `read_archive` yields."""
    found = engine.rows(
        f"select count(*) as n from ({_ARCHIVE})",  # noqa: S608  # as above
        since=since,
        surfaces=list(surfaces),
    )
    return int(found[0]["n"])
