"""Queries of searches."""

from collections.abc import Sequence

from warehouse.engine.duckdb_engine import Engine


def read_search_union(engine: Engine, terms: Sequence[str]) -> dict[str, list[str]]:
    """Return each video that a search for any of these terms showed, with those terms.

    Videos are in the order in which they were first shown.
    """
    found = engine.rows(
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
