"""Parser of `chart_issues`: every issue that the chart lists, with its date where one is given."""

from datetime import date

from pipelines.platform.chartsrc import bodies
from pipelines.platform.parsers.fields import JsonNode
from warehouse.records.charts import ChartIndex, ChartIssue

_RELEASE = "scheduled_release_time"
_LATEST_DATE = "latest_rank_cid_publish_date"


def parse_issues(body: bytes, *, context: bodies.ChartParseContext) -> ChartIndex:
    """Parse all issues, newest first; those without a date come last.

    Raises:
        ChartUnavailableError: The response is a refusal, or the list is empty.
        StructureChangedError: Keys or types are unknown.
    """
    data = bodies.chart_data(bodies.parse_document(body, context=context))
    if not data.has("info"):
        raise data.missing("info")
    # The list goes back only so many years, and has gaps; nodes without an issue are reported.
    issues: dict[str, ChartIssue] = {}
    for year in data.nodes("info"):
        if year.values.get("vols") is None:
            raise year.missing("vols")
        for entry in year.nodes("vols"):
            issue = _issue(entry, data, context)
            issues.setdefault(issue.volid, issue)
    if not issues:
        raise bodies.empty_list_error(context.surface)
    newest_first = sorted(issues.values(), key=lambda i: i.chart_date or date.min, reverse=True)
    return ChartIndex(issues=tuple(newest_first), latest_volid=data.id("rank_cid"))


def _issue(entry: JsonNode, data: JsonNode, context: bodies.ChartParseContext) -> ChartIssue:
    volid = entry.must_id("volid")
    # Without either text the date stays unknown. It cannot be computed from the id: all charts
    # share one counter, and the number of an issue begins again each year.
    chart_date = bodies.find_date(entry, "voltime", "outer_text")
    scheduled_at = bodies.find_time(entry, _RELEASE, day=chart_date)
    for holder in (entry, data):
        schedule = _schedule(holder)
        if schedule is None or scheduled_at is not None:
            continue
        latest, latest_date = (
            schedule.id("latest_rank_cid"),
            bodies.find_date(schedule, _LATEST_DATE),
        )
        if latest == volid:
            chart_date = chart_date or latest_date
        # An issue that is listed before its release is newer than the latest one of the schedule.
        is_newer = bool(chart_date and latest_date and chart_date > latest_date)
        if latest == volid or is_newer or (latest is None and holder is entry):
            scheduled_at = bodies.find_time(schedule, _RELEASE, day=chart_date)
    return ChartIssue(
        volid=volid,
        surface=context.surface,
        observed_at=context.observed_at,
        name=entry.name("volname") or entry.name("voltitle"),
        chart_date=chart_date,
        scheduled_at=scheduled_at,
    )


def _schedule(holder: JsonNode) -> JsonNode | None:
    """Return the release schedule of an issue or a list, which is its own or under `extra.resp`."""
    for path in (("scheduled_release_conf",), ("extra", "resp", "scheduled_release_conf")):
        value: object = holder.values
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, dict):
            return JsonNode(value, holder.surface, f"{holder.path}.{'.'.join(path)}")
    return None
