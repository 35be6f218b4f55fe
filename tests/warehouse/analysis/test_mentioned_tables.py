"""Which tables and views a query can read."""

import pytest

from warehouse.engine.sql import mentions_of
from warehouse.tables import STAR, TABLES

ALL = frozenset(table.name for table in (*TABLES, *STAR))
mentions = mentions_of(TABLES, STAR)


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("select * from raw.captures", {"raw.captures"}),
        ('SELECT * FROM "raw" . "captures" AS c', {"raw.captures"}),
        ("from seen.videos", {"raw.videos", "raw.captures"}),
        ("select c.videos, c.coverage from raw.captures c", {"raw.captures"}),
        ("from memory.raw.captures", {"raw.captures"}),
        ("use raw; from captures", ALL),
        ("from raw/* here */.captures", {"raw.captures"}),
        (
            "from marts.track_videos",
            {
                "marts.track_videos",
                "marts.confirmed_videos",
                "marts.coverage",
                "marts.job_results",
            },
        ),
        ("select 1", set()),
        ("with videos as (from raw.captures) from videos", {"raw.captures"}),
        (
            """select (select count(*) from raw.payloads) from raw.captures
            where capture_id in (select capture_id from seen.videos where aweme_id = $id)""",
            {"raw.payloads", "raw.captures", "raw.videos"},
        ),
        ("from raw.captures -- joined with raw.videos", {"raw.captures"}),
        ("select 'raw.videos' from raw.captures, unnest([1])", {"raw.captures"}),
        ("from raw.captures union all by name from RAW.Payloads", {"raw.captures", "raw.payloads"}),
        ("describe raw.captures", {"raw.captures"}),
        ("explain from raw.captures", ALL),
        ("pivot raw.captures on surface using count(*)", ALL),
        ("from glob('*')", ALL),
        ("show tables from raw", ALL),
        ("from duckdb_tables", ALL),
        ("select from from", ALL),
        ("from query_table('raw.' || 'captures')", ALL),
        ("from query('from raw.' || 'captures')", ALL),
        ("select table_name from information_schema.tables", ALL),
        ("from duckdb_columns()", ALL),
        ("Show all tables", ALL),
        ("select is_shown, described from raw.captures", {"raw.captures"}),
    ],
)
def test_a_query_reads_the_tables_that_it_names(sql: str, names: set[str]) -> None:
    assert mentions(sql) == names


def test_a_view_of_the_star_is_read_with_the_tables_and_views_below_it() -> None:
    days = mentions("from marts.track_days")
    assert days >= mentions("from marts.track_videos") | mentions("from marts.video_days")
    assert days >= {"raw.videos", "raw.captures", "marts.confirmed_videos"}


def test_tables_that_a_lake_does_not_have_are_not_looked_at() -> None:
    few = [table for table in TABLES if table.name in {"raw.videos", "marts.job_results"}]
    known = mentions_of(few, STAR)
    assert known("from seen.videos join raw.captures using (capture_id)") == {"raw.videos"}
    assert known("from marts.track_videos") == {"marts.track_videos", "marts.job_results"}
