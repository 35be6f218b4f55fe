"""A lake of millions of observations, written straight into its tables in big appends.

It looks as years of use leave it: works seen in lists of music ids and of accounts, and read one by
one, each read a capture of its own, in the order of time; compacted and arranged as upkeep does.
"""

import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import md5
from pathlib import Path

import duckdb
import pyarrow as pa
from deltalake import DeltaTable, WriterProperties, write_deltalake

from benchmarks.speed.running import RowOutput
from warehouse.home import Home, open_home
from warehouse.lake.store import Lake, open_lake
from warehouse.maintenance.compaction import maintain_lake
from warehouse.tables import BY_NAME

PAGE = 20
OF_ONE = 50  # works under one music id, and of one account
TIMES_SEEN = 5
APPENDS = 10
SMALLER = 500_000
"""Observations in the lake of `make bench`; parts that run alone write a larger one."""
WORLD = "sandbox"
SPAN = timedelta(days=300)
TABLES = ("raw.captures", "raw.capture_items", "raw.videos", "raw.accounts")
_WRITER = WriterProperties(compression="ZSTD", compression_level=3)

_MUSIC = "(7100000000000000000 + entity * 317003)::varchar"
_SEC_UID = "'MS4wLjABAAAA' || md5('user' || entity) || 'AbCdEfGhIjk'"
FAR, NEAR = 381_966_011, 1
"""How far apart the works of a list are published: among everybody else's, or one after another."""
_AWEME = "(7300000000000000000 + (work * $stride) % 1000000007 * 100003)::varchar"
_LISTS = f"""
    select
        *, md5('page' || page) as capture_id,
        case when kind = 0 then {_MUSIC} else {_SEC_UID} end as entity_id,
        case when kind = 0 then 'music_list' else 'user_posts' end as surface,
        $first::timestamptz + to_seconds(page * $list_s) as observed_at
    from (
        select
            page, page % 2 as kind, (page // 2) % $entities as entity,
            (page // 2) // $entities + 1 as sequence
        from range($from_page, $to_page) as pages(page)
    )
"""
_ITEMS = f"""
    select
        lists.*, position,
        entity * {OF_ONE} + (sequence * 7 + position) % {OF_ONE} as work, false as is_detail
    from ({_LISTS}) as lists, range({PAGE}) as positions(position)
"""
_DETAILS = f"""
    select
        detail % $works as work, (detail % $works) // {OF_ONE} as entity,
        detail // $works + 1 as sequence, md5('detail' || detail) as capture_id,
        {_AWEME} as entity_id, 'video_page' as surface, true as is_detail,
        $first::timestamptz + to_seconds(detail * $detail_s) as observed_at
    from range($from_detail, $to_detail) as details(detail)
"""
_WORK = f"""
    {_AWEME} as aweme_id, surface, observed_at, capture_id,
    'caption of work ' || work || ', some words and #tags' as desc,
    1600000000 + work * 37 % 160000000 as create_time,
    'https://vidplat.example/video/' || {_AWEME} as share_url, 'video' as media_type,
    false as is_top, {_SEC_UID} as sec_uid, entity::varchar as uid,
    'user' || entity as unique_id, 'name ' || entity as nickname,
    'https://vidplat.example/avatar/' || entity as avatar_url, {_MUSIC} as music_id,
    'Song ' || entity as music_title, 'Artist ' || entity % 5000 as music_author,
    30 as music_duration_s, false as music_is_original_sound, 15000 as duration_ms,
    720 as width, 1280 as height, 'https://vidplat.example/cover/' || work as cover_url,
    ['16000' || work % 999] as hashtag_ids, ['tag ' || work % 999] as hashtag_names,
    hash(work) % 1000000 as digg_count, hash(work) % 5000 as comment_count,
    case when is_detail then hash(work) % 9000 end as collect_count,
    hash(work) % 700 as share_count, true as is_exact, is_detail as statistics_complete,
    'vidplat-public' as data_provider, observed_at as committed_at
"""
_CAPTURE = """
    capture_id, surface, entity_id, sequence, 'ok' as outcome, 200 as http_status,
    1 as request_count, 1 as item_count, 0 as cursor_in, capture_id as payload_sha256,
    '/path' as source_path, '1' as parser_version, 'vidplat-public' as data_provider,
    observed_at, observed_at as committed_at
"""
_ROWS: Mapping[str, str] = {
    "raw.captures": f"""
        select {_CAPTURE}, true as has_more, 20 as cursor_out from ({_LISTS})
        union all by name select {_CAPTURE} from ({_DETAILS})
    """,
    "raw.capture_items": f"""
        select
            capture_id, position, surface, entity_id, sequence, {_AWEME} as aweme_id,
            observed_at as committed_at
        from ({_ITEMS})
    """,
    "raw.videos": f"""
        select {_WORK} from ({_ITEMS}) union all by name select {_WORK} from ({_DETAILS})
    """,
    "raw.accounts": f"""
        select
            {_SEC_UID} as sec_uid, 'user_info' as surface, observed_at, capture_id,
            'name ' || entity as nickname, 100 as follower_count, 50 as aweme_count,
            'vidplat-public' as data_provider, observed_at as committed_at
        from ({_LISTS}) where kind = 1
    """,
}


@dataclass(frozen=True, slots=True)
class LargeLake:
    """How many observations of works there are: three fifths in lists, two read alone."""

    observations: int
    stride: int = FAR

    @property
    def works(self) -> int:
        """Different ones."""
        return self.observations // TIMES_SEEN

    @property
    def entities(self) -> int:
        """Music ids, and as many accounts."""
        return self.works // OF_ONE

    @property
    def pages(self) -> int:
        """Captured pages of lists."""
        return self.observations * 3 // 5 // PAGE

    @property
    def details(self) -> int:
        """Works read alone."""
        return self.observations * 2 // 5

    def music_id(self, entity: int) -> str:
        """A music id, by its number."""
        return str(7_100_000_000_000_000_000 + entity * 317_003)

    def sec_uid(self, entity: int) -> str:
        """An account, by its number."""
        return f"MS4wLjABAAAA{md5(f'user{entity}'.encode()).hexdigest()}AbCdEfGhIjk"


def keep_large_lake(root: Path, size: LargeLake) -> Generator[RowOutput, None, Home]:
    """The home below `root` with the lake and the chart, written when nobody has before."""
    home = open_home(root, WORLD)
    if Path(home.lake_url).exists():
        yield "the large lake is there already"
        return home
    yield f"writing a lake of {size.observations:,} observations"
    began = time.monotonic()
    lake = open_lake(home.lake_url, world=WORLD)
    write_large_lake(lake, size)
    write_chart(lake)
    spent = time.monotonic() - began
    yield f"a lake of {size.observations:,} observations, written, arranged", f"{spent:.0f} s", ""
    return home


def write_large_lake(lake: Lake, size: LargeLake, *, now: datetime | None = None) -> None:
    """Write it, then compact and arrange it; the last page of all is of just now, and the round of
    upkeep that of the next day.
    """
    now = now or datetime.now(UTC)
    first = now - SPAN
    with duckdb.connect() as connection:
        connection.execute("set global TimeZone='UTC'")
        for part in range(APPENDS):
            params = {
                "first": first,
                "works": size.works,
                "stride": size.stride,
                "entities": size.entities,
                "list_s": SPAN.total_seconds() / size.pages,
                "detail_s": SPAN.total_seconds() / size.details,
                "from_page": size.pages * part // APPENDS,
                "to_page": size.pages * (part + 1) // APPENDS,
                "from_detail": size.details * part // APPENDS,
                "to_detail": size.details * (part + 1) // APPENDS,
            }
            for name in TABLES:
                _append(connection, lake, name, params, _ROWS[name])
    maintain_lake(lake, now=now + timedelta(days=1))


def _append(
    connection: duckdb.DuckDBPyConnection,
    lake: Lake,
    name: str,
    params: Mapping[str, object],
    query: str,
) -> None:
    schema = BY_NAME[name].schema
    used = {key: value for key, value in params.items() if f"${key}" in query}
    rows = connection.sql(query, params=used).to_arrow_table()
    missing = [field for field in schema if field.name not in rows.column_names]
    for field in missing:
        rows = rows.append_column(field.with_nullable(True), pa.nulls(rows.num_rows, field.type))
    table = DeltaTable(f"{lake.url}/{BY_NAME[name].folder}")
    batch = rows.select(schema.names).cast(schema)
    write_deltalake(table, batch, mode="append", writer_properties=_WRITER)


CHART_DAYS = 2000
"""Daily issues from the first day on, of a hundred songs each, as one page of the chart shows."""

_ISSUE = "date '2021-01-01' + day::integer as chart_date, (50000 + day * 7)::varchar as volid"
_CHART: Mapping[str, str] = {
    "raw.captures": f"""
        select
            md5('chart' || day) as capture_id, 'chart_songs' as surface,
            (50000 + day * 7)::varchar as entity_id, 1 as sequence, 'ok' as outcome,
            1 as request_count, 100 as item_count, '1' as parser_version,
            'chart-public' as data_provider, $first::timestamptz as observed_at,
            $first::timestamptz as committed_at
        from range({CHART_DAYS}) as days(day)
    """,
    "raw.chart_issues": f"""
        select
            {_ISSUE}, 'chart_issues' as surface, $first::timestamptz as observed_at,
            md5('chart0') as capture_id, day || '期' as name, day = {CHART_DAYS} - 1 as is_latest,
            'chart-public' as data_provider, $first::timestamptz as committed_at
        from range({CHART_DAYS}) as days(day)
    """,
    "raw.chart_songs": f"""
        select
            {_ISSUE}, md5('chart' || day) as capture_id, rank,
            'chart_songs' as surface, $first::timestamptz as observed_at,
            'Song ' || (day + rank * 37) % 3000 as title, 'Artist ' || rank as artist,
            200 as duration_s, 'https://chart.example/cover/' || rank as cover_url,
            rank as previous_rank, rank as sort,
            md5('song' || (day + rank * 37) % 3000) as song_hash,
            9 as rank_count, false as is_first, 'chart-public' as data_provider,
            $first::timestamptz as committed_at
        from range({CHART_DAYS}) as days(day), range(1, 101) as ranks(rank)
    """,
}


def write_chart(lake: Lake, *, now: datetime | None = None) -> None:
    """Five years of the chart, each issue read once, arranged as upkeep does."""
    params = {"first": (now or datetime.now(UTC)) - timedelta(days=1)}
    with duckdb.connect() as connection:
        connection.execute("set global TimeZone='UTC'")
        for name, query in _CHART.items():
            _append(connection, lake, name, params, query)
    maintain_lake(lake)
