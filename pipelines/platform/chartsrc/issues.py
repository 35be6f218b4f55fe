"""Parser of `chart_issues`: every issue that the chart lists, with its date where one is given."""

from datetime import date

from pipelines.platform.chartsrc.bodies import (
    ChartParseContext,
    chart_data,
    empty_list_error,
    find_date,
    find_time,
    parse_document,
)
from pipelines.platform.parsers.fields import JsonNode
from warehouse.records.charts import ChartIndex, ChartIssue


def parse_issues(body: bytes, *, seen: ChartParseContext) -> ChartIndex:
    """Parse all issues, newest first; those without a date come last.

    Raises:
        ChartUnavailableError: The response is a refusal, or the list is empty.
        StructureChangedError: Keys or types are unknown.
    """
    data = chart_data(parse_document(body, seen=seen))
    if not data.has("info"):
        raise data.missing("info")
    found: dict[str, ChartIssue] = {}
    for year in data.nodes("info"):
        if year.values.get("vols") is None:
            raise year.missing("vols")
        for entry in year.nodes("vols"):
            issue = _issue(entry, seen)
            found.setdefault(issue.volid, issue)
    if not found:
        raise empty_list_error(seen.surface)
    newest_first = sorted(found.values(), key=lambda i: i.chart_date or date.min, reverse=True)
    return ChartIndex(issues=tuple(newest_first), latest_volid=data.id("rank_cid"))


def _issue(entry: JsonNode, seen: ChartParseContext) -> ChartIssue:
    return ChartIssue(
        volid=entry.must_id("volid"),
        surface=seen.surface,
        observed_at=seen.observed_at,
        name=entry.name("volname") or entry.name("voltitle"),
        chart_date=find_date(entry, "voltime", "outer_text"),
        scheduled_at=find_time(entry, "scheduled_release_time"),
    )
