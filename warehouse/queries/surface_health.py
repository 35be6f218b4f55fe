"""Probes of surfaces in `marts.surface_health`, and the ids that probes can use.

A probe is not a capture: it writes no observation and takes no sequence number, so probing never
changes what a list or a scan shows. All calls block.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from uuid import uuid4

from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.record_rows import pack_bytes
from warehouse.lake.store import Lake
from warehouse.queries.erasure import read_erasure_marks
from warehouse.records.health import SURFACE_USES, SurfaceHealth
from warehouse.records.values import ReadOnlyRow, Row
from warehouse.tables.column import WRITE_TEST_SURFACE

TABLE = "marts.surface_health"
GOOD_RESPONSES_KEPT = 5
"""Number of good responses that decide which keys of a surface are stable."""

_FIELDS = (
    "surface",
    "outcome",
    "observed_at",
    "entity_id",
    "error_type",
    "reason",
    "http_status",
    "request_count",
    "duration_ms",
    "payload_sha256",
    "asked_by",
)
_LISTS = ("key_paths", "came", "went")


def write_health(lake: Lake, surfaces: Sequence[SurfaceHealth]) -> str:
    """Append the probes of one report; returns the id of the report."""
    report_id = uuid4().hex
    lake.append(TABLE, [_row(health, report_id) for health in surfaces])
    return report_id


def write_test_row(lake: Lake) -> str:
    """Append a row that only proves that the lake is writable; returns the id of its report."""
    report_id = uuid4().hex
    health = SurfaceHealth(
        surface=WRITE_TEST_SURFACE, outcome="works", observed_at=datetime.now(UTC)
    )
    lake.append(TABLE, [_row(health, report_id)], is_write_test=True)
    return report_id


def write_bodies(
    lake: Lake, engine: Engine, bodies: Mapping[str, tuple[bytes, str | None]]
) -> None:
    """Append bodies that are not stored yet; maps hash to body and content type.

    Bodies that name an erased account are skipped.
    """
    stored = engine.rows(
        "select sha256 from raw.payloads where sha256 in (select unnest($hashes::varchar[]))",
        {"hashes": sorted(bodies)},
    )
    stored_hashes = {str(row["sha256"]) for row in stored}
    marks = read_erasure_marks(engine)
    rows = [
        {
            "sha256": sha256,
            "body": pack_bytes(body),
            "size_bytes": len(body),
            "content_type": content_type,
        }
        for sha256, (body, content_type) in bodies.items()
        if sha256 not in stored_hashes and not marks.occur_in(body)
    ]
    lake.append("raw.payloads", rows)


def has_report(engine: Engine, report_id: str) -> bool:
    """Return True if the probes of a report can be read back."""
    rows = engine.rows(
        "select 1 from marts.surface_health where report_id = $id limit 1",
        {"id": report_id},
    )
    return bool(rows)


def read_latest_health(engine: Engine) -> dict[str, SurfaceHealth]:
    """Return the newest probe of each surface, in the order of `SURFACE_USES`.

    Surfaces never probed are absent.
    """
    rows = engine.rows(
        """
        select * from marts.surface_health where outcome <> 'not_asked'
        qualify row_number() over (partition by surface order by observed_at desc) = 1
        """
    )
    by_name = {str(row["surface"]): _health(row) for row in rows}
    return {name: by_name[name] for name in SURFACE_USES if name in by_name}


def read_last_worked(engine: Engine) -> Row:
    """Return when each surface last returned data, to a probe or a capture (UTC)."""
    rows = engine.rows(
        """
        with worked as (
            select surface, observed_at from marts.surface_health where outcome = 'works'
            union all
            select surface, observed_at from raw.captures where outcome = 'ok'
        )
        select surface, max(observed_at) as observed_at from worked group by surface
        """
    )
    return {str(row["surface"]): row["observed_at"] for row in rows}


def read_good_shapes(engine: Engine, *, stable_after: int) -> dict[str, list[tuple[str, ...]]]:
    """Return the key paths of the last good responses of each surface, newest first.

    Responses that only lack keys are good, too, once the newest `stable_after` are all such: that
    is the platform's new shape.
    """
    rows = engine.rows(
        """
        with parsed as (
            select
                surface, key_paths, observed_at, outcome = 'works' as has_all,
                count_if(outcome = 'works') over (
                    partition by surface order by observed_at desc
                ) = 0 as is_newest
            from marts.surface_health
            where (outcome = 'works' or reason = 'keys_went') and len(key_paths) > 0
        ),
        counted as (
            select *, count_if(is_newest) over (partition by surface) as lacking_count from parsed
        )
        select surface, key_paths from counted
        where has_all or (is_newest and lacking_count >= $stable_after)
        qualify row_number() over (partition by surface order by observed_at desc) <= $kept
        order by surface, observed_at desc
        """,
        {"kept": GOOD_RESPONSES_KEPT, "stable_after": stable_after},
    )
    shapes: dict[str, list[tuple[str, ...]]] = {}
    for row in rows:
        shapes.setdefault(row["surface"], []).append(tuple(row["key_paths"]))
    return shapes


def read_good_bodies(engine: Engine, surfaces: Iterable[str]) -> dict[str, bytes]:
    """Return the packed body of the newest good capture of each surface that has one."""
    rows = engine.rows(
        """
        select surface, body from raw.captures
        join raw.payloads on payload_sha256 = sha256
        where outcome = 'ok' and surface in (select unnest($surfaces::varchar[]))
        qualify row_number() over (partition by surface order by observed_at desc) = 1
        """,
        {"surfaces": sorted(surfaces)},
    )
    return {row["surface"]: bytes(row["body"]) for row in rows}


def read_known_ids(engine: Engine) -> dict[str, str | None]:
    """Return the newest observed music id, video, account, hashtag, short link and title.

    Where nothing was observed, the id of a successful probe.
    """
    rows = engine.rows(
        """
        with asked as (
            select surface, arg_max(entity_id, observed_at) as entity_id
            from marts.surface_health where outcome = 'works' group by surface
        )
        select
            coalesce((select arg_max(music_id, observed_at) from raw.tracks),
                (select entity_id from asked where surface = 'music_info')) as music_id,
            coalesce((select arg_max(title, observed_at) from raw.tracks),
                (select entity_id from asked where surface = 'search_stream')) as term,
            coalesce((select arg_max(sec_uid, observed_at) from raw.videos),
                (select entity_id from asked where surface = 'user_info')) as sec_uid,
            coalesce(
                (select arg_max(aweme_id, observed_at) from raw.videos where statistics_complete),
                (select entity_id from asked where surface = 'video_page')) as aweme_id,
            coalesce((select arg_max(hashtag_ids[1], observed_at) from raw.videos),
                (select entity_id from asked where surface = 'hashtag_info')) as ch_id,
            coalesce((select arg_max(entity_id, observed_at) from raw.captures
                    where surface = 'short_link' and outcome = 'ok'),
                (select entity_id from asked where surface = 'short_link')) as link
        """
    )
    return {name: None if value is None else str(value) for name, value in rows[0].items()}


def _row(health: SurfaceHealth, report_id: str) -> Row:
    return {
        "probe_id": uuid4().hex,
        "report_id": report_id,
        **{name: getattr(health, name) for name in _FIELDS},
        **{name: list(getattr(health, name)) for name in _LISTS},
    }


def _health(row: ReadOnlyRow) -> SurfaceHealth:
    values: Row = {name: row[name] for name in _FIELDS}
    values |= {name: tuple(row[name] or ()) for name in _LISTS}
    return SurfaceHealth(**values)
