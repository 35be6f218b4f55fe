"""Typed reads of hashtags, searches and the chart.

Here: SQL and the shape of its answer, as in `queries`. Nodes and gaps of a chart history are
rules (`domain`); what a search found is judged elsewhere.
"""

from collections.abc import Sequence
from typing import Any, cast

from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.page_rows import chart_index_from_rows, chart_song_from_row
from warehouse.lake.record_rows import hashtag_from_row
from warehouse.records.charts import ChartIndex, ChartPage
from warehouse.records.videos import HashtagInfo

Row = dict[str, Any]


def read_latest_hashtags(engine: Engine, ch_ids: Sequence[str]) -> dict[str, HashtagInfo]:
    """Per hashtag the newest observation. Hashtags never observed are absent."""
    found = _rows(
        engine,
        """
        select * from seen.hashtags
        where ch_id in (select unnest($ids::varchar[]))
        qualify row_number() over (
            partition by ch_id order by observed_at desc, committed_at desc
        ) = 1
        """,
        ids=list(ch_ids),
    )
    return {row["ch_id"]: hashtag_from_row(row) for row in found}


def read_search_union(engine: Engine, terms: Sequence[str]) -> dict[str, list[str]]:
    """Per work that a search for any of these terms ever showed, the terms that showed it.

    Works stand in the order in which they were first shown.
    """
    found = _rows(
        engine,
        """
        select
            items.aweme_id,
            list_distinct(list(pages.term)) as terms,
            min(pages.observed_at) as first_at,
            min_by(items.position, pages.observed_at) as place
        from seen.search_pages as pages
        join raw.capture_items as items using (capture_id)
        where pages.term in (select unnest($terms::varchar[]))
        group by items.aweme_id
        order by first_at, place, items.aweme_id
        """,
        terms=list(terms),
    )
    return {row["aweme_id"]: sorted(row["terms"]) for row in found}


def read_chart_index(engine: Engine) -> ChartIndex:
    """Every issue ever listed, newest first: the newest observation of each that has a date.

    An issue whose date nobody ever said comes last. `latest_volid` is what the newest list said.
    """
    found = _rows(
        engine,
        """
        with latest as (
            select volid from seen.chart_issues where is_latest
            order by observed_at desc, committed_at desc limit 1
        )
        select * replace (volid in (from latest) as is_latest)
        from seen.chart_issues
        qualify row_number() over (
            partition by volid
            order by chart_date is not null desc, observed_at desc, committed_at desc
        ) = 1
        order by chart_date desc nulls last, observed_at desc, volid desc
        """,
    )
    return chart_index_from_rows(found)


def read_chart_songs(engine: Engine, volid: str, *, limit: int = 500) -> ChartPage | None:
    """The first songs of an issue as last observed, as one page; None if never observed."""
    found = _rows(
        engine,
        """
        select * from seen.chart_songs where volid = $volid
        qualify row_number() over (
            partition by rank order by observed_at desc, committed_at desc
        ) = 1
        order by rank limit $limit
        """,
        volid=volid,
        limit=limit,
    )
    if not found:
        return None
    first = found[0]
    return ChartPage(
        songs=tuple(chart_song_from_row(row) for row in found),
        surface=first["surface"],
        observed_at=first["observed_at"],
        page=1,
        volid=volid,
        chart_date=first["chart_date"],
    )


def _rows(engine: Engine, sql: str, **params: object) -> list[Row]:
    return cast("list[Row]", engine.rows(sql, params))
