"""Report queries on data quality: captures, stop reasons, gaps, completeness, freshness."""

from datetime import datetime

import pyarrow as pa

from warehouse.engine.duckdb_engine import ALWAYS_CURRENT, Engine

_DAY_S = 86_400.0


def read_captures(engine: Engine) -> pa.Table:
    """Count captures and their requests by surface and outcome."""
    return engine.table(
        """
        select surface, outcome, count(*) as captures, cast(sum(request_count) as bigint)
            as requests, cast(sum(item_count) as bigint) as items, max(observed_at) as last_at
        from raw.captures group by surface, outcome order by surface, outcome
        """
    )


def read_reasons(engine: Engine) -> pa.Table:
    """Count unsuccessful captures by reason, in the platform's own words if it gave any."""
    return engine.table(
        """
        select outcome, reason, surface, count(*) as captures
        from raw.captures where outcome != 'ok'
        group by outcome, reason, surface order by captures desc, outcome, reason, surface
        """
    )


def read_stops(engine: Engine) -> pa.Table:
    """Count the stop reasons of scan sources, with their requests and items."""
    return engine.table(
        """
        select surface, stop_reason, count(*) as times, cast(sum(requests) as bigint) as requests,
            cast(sum(items) as bigint) as items, cast(sum(new_items) as bigint) as new_items
        from marts.coverage group by surface, stop_reason order by surface, stop_reason
        """
    )


def read_days(engine: Engine) -> pa.Table:
    """Count captures by day from the first to the last; days without captures have 0."""
    return engine.table(
        """
        with taken as (
            select cast(observed_at as date) as day, count(*) as captures,
                count_if(outcome = 'ok') as successful
            from raw.captures group by day
        ),
        span as (
            select unnest(range(min(day), max(day) + interval 1 day, interval 1 day)) as day
            from taken
        )
        select cast(span.day as date) as day, coalesce(captures, 0) as captures,
            coalesce(successful, 0) as successful
        from span left join taken on taken.day = cast(span.day as date) order by day
        """
    )


def read_gaps(engine: Engine) -> pa.Table:
    """Return the periods without a capture, longest first."""
    return engine.table(
        """
        with days as (select distinct cast(observed_at as date) as day from raw.captures),
        pairs as (select day, lead(day) over (order by day) as next from days)
        select day as last_day_before, next as first_day_after, next - day - 1 as days_without
        from pairs where next - day > 1 order by days_without desc, last_day_before
        """
    )


def read_completeness(engine: Engine) -> pa.Table:
    """Count observations of videos by surface: with all four exact counts, rounded, without."""
    return engine.table(
        """
        select surface, count(*) as observations, count_if(statistics_complete) as complete,
            count_if(not is_exact) as rounded,
            count_if(digg_count is null) as without_likes,
            round(count_if(statistics_complete) / count(*), 4) as complete_share
        from seen.videos group by surface order by surface
        """
    )


def read_tables(engine: Engine, moment: datetime | None) -> pa.Table:
    """Return row count, newest commit and its age in days at the moment, for every table."""
    each = " union all ".join(
        f"select '{table.name}' as name, count(*) as row_count, max(committed_at) as last_commit "  # noqa: S608  # the contract's names
        f"from {table.name}"
        for table in engine.lake.tables
        if table.name not in ALWAYS_CURRENT
    )
    return engine.table(
        f"""
        select name, row_count, last_commit,
            round(epoch($moment::timestamptz - last_commit) / {_DAY_S}, 3) as age_days
        from ({each}) order by name
        """,  # noqa: S608  # constant text
        {"moment": moment},
    )


def read_freshness(engine: Engine, moment: datetime | None) -> pa.Table:
    """Return the last successful capture of each surface and its age in days at the moment."""
    return engine.table(
        f"""
        select surface, count(distinct entity_id) as entities, max(observed_at) as last_success,
            round(epoch($moment::timestamptz - max(observed_at)) / {_DAY_S}, 3) as age_days
        from raw.captures where outcome = 'ok' group by surface order by age_days desc, surface
        """,  # noqa: S608  # constant text
        {"moment": moment},
    )


def read_health(engine: Engine) -> pa.Table:
    """Return the last probe result of each surface."""
    return engine.table(
        """
        select surface, outcome, error_type, reason, observed_at from marts.surface_health
        qualify row_number() over (
            partition by surface order by observed_at desc, probe_id
        ) = 1
        order by surface
        """
    )
