"""Queries of captures and what single ones showed; of those of a job or of searches; of all.

Parsing archived bodies again is in `pipelines.captures.replay`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from warehouse.engine.duckdb_engine import Engine
from warehouse.engine.sql import inline_values
from warehouse.lake import record_rows
from warehouse.records.values import Row
from warehouse.records.videos import Account, Unavailability, Video

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
# Of a replayed capture the first row: it has the platform's own reason.
_LATEST_DETAILS = """
    select entity_id, outcome, reason, notice, detail_msg from raw.captures
    where entity_id in ({ids}) and outcome in ('ok', 'unavailable') and observed_at > $since
    qualify row_number() over (
        partition by entity_id order by observed_at desc, committed_at
    ) = 1
"""


def read_capture(engine: Engine, capture_id: str) -> Row | None:
    """Return the row of a capture, or None until it is complete."""
    rows = engine.rows("select * from raw.captures where capture_id = $id", id=capture_id)
    return rows[0] if rows else None


def read_last_outcome(
    engine: Engine, *, surfaces: Sequence[str], entity_id: str, outcome: str
) -> datetime | None:
    """Return when a surface last had this outcome for an entity, or None."""
    sql = """
        select max(observed_at) as observed_at from raw.captures
        where entity_id = $entity_id and surface in ({surfaces}) and outcome = $outcome
    """
    sql, params = inline_values(sql, surfaces, slot="surfaces")
    rows = engine.rows(sql, **params, entity_id=entity_id, outcome=outcome)
    observed_at: datetime | None = rows[0]["observed_at"]
    return observed_at


def read_profile(engine: Engine, sec_uid: str) -> tuple[Account, str] | None:
    """Return the newest observation of an account and its data provider, or None."""
    sql = """
        select * from raw.accounts where sec_uid = $sec_uid
        order by observed_at desc, committed_at desc
    """
    rows = engine.keep_committed("raw.accounts", engine.rows(sql, sec_uid=sec_uid))
    return (record_rows.account_from_row(rows[0]), rows[0]["data_provider"]) if rows else None


def read_unavailable_videos(
    engine: Engine, aweme_ids: Sequence[str], *, since: datetime
) -> dict[str, Unavailability]:
    """Return those of the videos that the platform did not show when they were last read.

    Reads up to `since` do not count.
    """
    sql, ids = inline_values(_LATEST_DETAILS, aweme_ids)
    rows = engine.rows(sql, {**ids, "since": since})
    return {
        row["entity_id"]: record_rows.unavailability_from_row(row)
        for row in rows
        if row["outcome"] == "unavailable"
    }


def read_observations(
    engine: Engine, table: ObservationTable, capture_ids: Sequence[str]
) -> dict[str, list[Row]]:
    """Return rows of `raw.<table>` by their capture. Captures without rows are absent."""
    rows = engine.rows(
        f"""
        select * from raw.{table}
        where capture_id in (select unnest($ids::varchar[]))
        order by capture_id, {_ORDER[table]}
        """,  # noqa: S608  # both are constants of this module
        ids=list(capture_ids),
    )
    by_capture: dict[str, list[Row]] = {}
    for row in rows:
        by_capture.setdefault(row["capture_id"], []).append(row)
    return by_capture


def read_page_videos(engine: Engine, capture_id: str) -> tuple[Video, ...]:
    """Return the videos of a captured page, in display order."""
    rows = engine.rows(
        """
        select videos.* from raw.capture_items as items
        join raw.videos as videos using (capture_id, aweme_id)
        where items.capture_id = $id
        qualify row_number() over (partition by items.position order by videos.committed_at) = 1
        order by items.position
        """,
        id=capture_id,
    )
    return tuple(record_rows.video_from_row(row) for row in rows)


def read_body(engine: Engine, sha256: str) -> bytes | None:
    """Return a body by its hash, or None if it is not stored (yet, or any more)."""
    packed = read_payloads(engine, [sha256]).get(sha256)
    return None if packed is None else record_rows.unpack_bytes(packed)


def read_payloads(engine: Engine, sha256s: Sequence[str]) -> dict[str, bytes]:
    """Return compressed bodies by their hash. Bodies deleted by retention are absent."""
    rows = engine.rows(
        """
        select sha256, body from raw.payloads
        where sha256 in (select unnest($hashes::varchar[]))
        """,
        hashes=list(sha256s),
    )
    return {row["sha256"]: bytes(row["body"]) for row in rows}


# A replayed capture has the same surface, entity, sequence and body: the newest row counts.
_ARCHIVE = """
    select * from raw.captures
    where payload_sha256 is not null
        and committed_at <= $until
        and ($since::timestamptz is null or observed_at >= $since)
        and (len($surfaces::varchar[]) = 0 or surface in (select unnest($surfaces::varchar[])))
    qualify row_number() over (
        partition by surface, entity_id, sequence, payload_sha256 order by committed_at desc
    ) = 1
"""


def read_archive(
    engine: Engine,
    *,
    until: datetime,
    since: datetime | None = None,
    surfaces: Sequence[str] = (),
    batch: int = 100,
) -> Iterator[list[Row]]:
    """Yield every capture with a body, oldest first, in batches; of replayed ones the newest row.

    `until`: only what was committed by then, so that a replay does not meet what it writes.
    `surfaces` empty: all surfaces.
    """
    after: Row = {"observed_at": None, "capture_id": ""}
    while True:
        rows = engine.rows(
            f"""
            with archive as ({_ARCHIVE})
            select * from archive
            where $at::timestamptz is null or (observed_at, capture_id) > ($at, $id)
            order by observed_at, capture_id limit $batch
            """,  # noqa: S608  # a constant of this module
            until=until,
            since=since,
            surfaces=list(surfaces),
            at=after["observed_at"],
            id=after["capture_id"],
            batch=batch,
        )
        if not rows:
            return
        yield rows
        after = rows[-1]


def count_archive(
    engine: Engine,
    *,
    until: datetime,
    since: datetime | None = None,
    surfaces: Sequence[str] = (),
) -> int:
    """Return how many captures `read_archive` yields."""
    rows = engine.rows(
        f"select count(*) as n from ({_ARCHIVE})",  # noqa: S608  # as above
        until=until,
        since=since,
        surfaces=list(surfaces),
    )
    return int(rows[0]["n"])


@dataclass(frozen=True, slots=True)
class ReadSoFar:
    """Reads of one surface with one outcome: `ok`, `unavailable` or an error type."""

    surface: str
    outcome: str
    captures: int
    requests: int
    items: int


def read_so_far(engine: Engine, job_id: str) -> list[ReadSoFar]:
    """Return what a job has read, with surfaces in the order in which it started them."""
    rows: list[Row] = engine.rows(
        """
        select surface, outcome, count(*) as captures, sum(request_count)::bigint as requests,
               coalesce(sum(item_count), 0)::bigint as items
        from raw.captures where job_id = $job_id
        group by surface, outcome order by min(observed_at), surface, outcome
        """,
        {"job_id": job_id},
    )
    return [ReadSoFar(**row) for row in rows]


def read_search_union(engine: Engine, terms: Sequence[str]) -> dict[str, list[str]]:
    """Return each video that a search for any of these terms showed, with those terms.

    Videos are in the order in which they were first shown.
    """
    rows = engine.rows(
        """
        select
            items.aweme_id,
            list_distinct(list(pages.term)) as terms,
            min(pages.observed_at) as first_at,
            min_by(items.position, pages.observed_at) as place
        from seen.capture_items as items
        join raw.search_pages as pages using (capture_id)
        where pages.term in (select unnest($terms::varchar[]))
        group by items.aweme_id
        order by first_at, place, items.aweme_id
        """,
        terms=list(terms),
    )
    return {row["aweme_id"]: sorted(row["terms"]) for row in rows}


def read_music_of_song(engine: Engine, track_id: str) -> str | None:
    """Return the music id that was last seen to publish a song of the music service, or None."""
    rows = engine.rows(
        """
        select music_id, max(observed_at) as last_at from (
            select music_id, observed_at from raw.tracks where service_track_id = $track_id
            union all
            select music_id, observed_at from raw.videos where music_service_track_id = $track_id
        )
        group by music_id order by last_at desc, music_id limit 1
        """,
        track_id=track_id,
    )
    return next((row["music_id"] for row in rows), None)
