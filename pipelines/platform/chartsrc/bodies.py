"""Decode the chart's responses: strip wrapping comments, tell refusals from data.

The chart answers 200 to everything, and `text/html` to most of it, so only the body shows which it
is. Songs are parsed in `songs.py`, issues below.
"""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from http import HTTPStatus
from zoneinfo import ZoneInfo

from pipelines.platform.call_trace import HttpResponse
from pipelines.platform.parsers.fields import MAX_INT, JsonNode, parse_json
from pipelines.platform.parsers.refusals import SIGNATURE_CODES
from pipelines.platform.profiles import ProfileMarkers
from pipelines.platform.refusal_table import refusal_error
from warehouse.records.charts import ChartIndex, ChartIssue
from warehouse.records.errors import StructureChangedError, UpstreamError

_LEADING_COMMENT = re.compile(rb"\s*<!--[^<>]*-->")
_TRAILING_COMMENT = re.compile(rb"<!--[^<>]*-->\s*\Z")
_MAX_COMMENTS = 20  # it sends one or two
_MAX_COMMENT_BYTES = 2_000
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])", re.ASCII)
_TIME = re.compile(
    r"(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})?(?(day)[ T])"
    r"(?P<minute>[0-9]{1,2}:[0-9]{2})(?P<second>:[0-9]{2})?",
    re.ASCII,
)
_TEXT_KEPT = 4096  # refusal texts are short
_ALONE = frozenset({"timestamp"})
_SONGS = frozenset({"data", "songs"})  # where documents with issues or songs have them
_TOO_FREQUENT = 1002
_SHANGHAI = ZoneInfo("Asia/Shanghai")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartParseContext:
    """Context of a chart payload: surface, time, and the profile's texts that mean a refusal."""

    surface: str
    observed_at: datetime
    markers: ProfileMarkers


def refuse_chart_answer(answer: HttpResponse) -> None:
    """Raise for a refusal that the HTTP response alone shows.

    Raises:
        ForbiddenError: Status 403.
        SignatureDemandedError: Status 412 or 444.
        ChartUnavailableError: Any other status than 200, or an empty body.
    """
    # 404, 5xx and the like say as little as an empty body: another form of the issue may answer.
    surface, status = answer.surface, answer.status
    if status in SIGNATURE_CODES:
        detail = "the chart answers signed requests only"
        raise refusal_error(
            "signature_demanded", detail, surface=surface, status=status, reason=f"status {status}"
        )
    if status == HTTPStatus.FORBIDDEN:
        raise refusal_error("forbidden", "the chart forbids this", surface=surface, status=status)
    if status != HTTPStatus.OK or not answer.body.strip():
        word = "empty_body" if status == HTTPStatus.OK else f"status {status}"
        detail = f"the chart sent no document ({word})"
        raise refusal_error("chart_http", detail, surface=surface, status=status, reason=word)


def parse_document(body: bytes, *, context: ChartParseContext) -> JsonNode:
    """Parse the JSON object of a chart response.

    Raises:
        ChartUnavailableError: The body is a text, or the document reports a failure.
        StructureChangedError: Its status has an unknown type.
    """
    try:
        # A request with `with_res_tag` gets its document between comments; so may any other.
        document = parse_json(_without_comments(body), surface=context.surface)
    except StructureChangedError as error:
        named = refusal_from_text(body, context)
        raise named or refusal_error(
            "chart_text", "the chart sent no JSON object", surface=context.surface
        ) from error
    refuse_failure(document)
    return document


def _without_comments(body: bytes) -> bytes:
    """Return a body without the comments before and behind its document."""
    for _ in range(_MAX_COMMENTS):
        leading = _LEADING_COMMENT.match(body, 0, _MAX_COMMENT_BYTES)
        body = body if leading is None else body[leading.end() :]
        trailing = _TRAILING_COMMENT.search(body, max(0, len(body) - _MAX_COMMENT_BYTES))
        body = body if trailing is None else body[: trailing.start()]
        if leading is None and trailing is None:
            break
    return body


def refusal_from_text(body: bytes, context: ChartParseContext) -> UpstreamError | None:
    """Return the error for a body that is a known refusal text; None for any other body."""
    text = body[:_TEXT_KEPT].decode("utf-8", "replace")
    if any(word in text for word in context.markers.chart_denied):
        return refusal_error(
            "chart_denied", "the chart's firewall refused", surface=context.surface
        )
    if any(word in text for word in context.markers.chart_unknown):
        return refusal_error(
            "chart_wrong_id", "the chart knows no such id", surface=context.surface
        )
    return None


def refuse_failure(document: JsonNode) -> None:
    """Raise when the document itself reports a failure.

    Raises:
        RateLimitedError: Requests come too often for the chart.
        ChartUnavailableError: It reports any other failure, or is the list of charts.
    """
    status, code = _signed(document, "status"), _signed(document, "errcode")
    # "操作太频繁": asking again at once, as after other failures, would only prolong it.
    if code == _TOO_FREQUENT:
        detail = "the chart asks for fewer requests"
        raise refusal_error("chart_too_frequent", detail, surface=document.surface)
    if status not in {None, 1}:
        detail = f"the chart answered with status {status}"
        raise refusal_error("chart_status", detail, surface=document.surface)
    if code:
        detail = f"the chart answered with error {code}"
        raise refusal_error("chart_errcode", detail, surface=document.surface)
    # The form `rank/list` of 2022 lists the charts themselves.
    charts = document.values.get("rank")
    if isinstance(charts, dict) and "list" in charts and not _SONGS & document.values.keys():
        detail = "the chart sent its list of charts (`rank/list`), which has no songs"
        raise refusal_error("chart_of_charts", detail, surface=document.surface)


def chart_data(document: JsonNode) -> JsonNode:
    """Return the `data` of a document.

    Raises:
        ChartUnavailableError: It holds only a timestamp: there is no such chart.
    """
    data = document.must_node("data")
    if data.values and data.values.keys() <= _ALONE:
        raise refusal_error("chart_no_such", "there is no such chart", surface=data.surface)
    return data


def empty_list_error(surface: str) -> UpstreamError:
    """Return the error for a list without entries, as a cold edge node sends it."""
    return refusal_error("chart_empty", "the chart came without entries", surface=surface)


def non_negative_int(node: JsonNode, key: str) -> int | None:
    """Return a non-negative integer, also from a text; None when absent or empty."""
    value = node.values.get(key)
    if not isinstance(value, str):  # ids and totals are texts in some forms
        return node.whole(key)
    if not value:
        return None
    if not (value.isascii() and value.isdigit() and len(value) < len(str(MAX_INT))):
        raise node.changed(key, value)
    return int(value)


def _signed(document: JsonNode, key: str) -> int | None:
    """Return a status, which may be negative."""
    value = document.values.get(key)
    return value if type(value) is int else non_negative_int(document, key)


def find_date(node: JsonNode, *keys: str) -> date | None:
    """Return the date at the start of the first of these texts that has one, else None."""
    for key in keys:
        match = _DATE.match(node.text(key) or "")
        if match is not None:
            try:
                return date.fromisoformat(match[0])
            except ValueError:  # such as 0000-00-00
                continue
    return None


def find_time(node: JsonNode, key: str, *, day: date | None = None) -> datetime | None:
    """Return a time of Shanghai from a text such as `2026-08-29 09:40:00`, seconds or not.

    A text such as `10:00:00` is a time of `day`, unknown without one.
    """
    text = node.values.get(key)
    match = _TIME.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        return None
    dated = f"{match['day'] or day} {match['minute']}{match['second'] or ':00'}"
    try:
        local = datetime.strptime(dated, "%Y-%m-%d %H:%M:%S")  # noqa: DTZ007  # zone follows
        local.astimezone(UTC)
    except (ValueError, OverflowError):  # such as 0000-00-00 00:00:00
        return None
    return local.replace(tzinfo=_SHANGHAI)


# Parser of `chart_issues`: every issue that the chart lists, with its date where one is given.

_RELEASE = "scheduled_release_time"
_LATEST_DATE = "latest_rank_cid_publish_date"


def parse_issues(body: bytes, *, context: ChartParseContext) -> ChartIndex:
    """Parse all issues, newest first; those without a date come last.

    Raises:
        ChartUnavailableError: The response is a refusal, or the list is empty.
        StructureChangedError: Keys or types are unknown.
    """
    data = chart_data(parse_document(body, context=context))
    if "info" not in data.values:
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
        raise empty_list_error(context.surface)
    newest_first = sorted(issues.values(), key=lambda i: i.chart_date or date.min, reverse=True)
    return ChartIndex(issues=tuple(newest_first), latest_volid=data.id("rank_cid"))


def _issue(entry: JsonNode, data: JsonNode, context: ChartParseContext) -> ChartIssue:
    volid = entry.must_id("volid")
    # Without either text the date stays unknown. It cannot be computed from the id: all charts
    # share one counter, and the number of an issue begins again each year.
    chart_date = find_date(entry, "voltime", "outer_text")
    scheduled_at = find_time(entry, _RELEASE, day=chart_date)
    for holder in (entry, data):
        schedule = _schedule(holder)
        if schedule is None or scheduled_at is not None:
            continue
        latest, latest_date = (
            schedule.id("latest_rank_cid"),
            find_date(schedule, _LATEST_DATE),
        )
        if latest == volid:
            chart_date = chart_date or latest_date
        # An issue that is listed before its release is newer than the latest one of the schedule.
        is_newer = bool(chart_date and latest_date and chart_date > latest_date)
        if latest == volid or is_newer or (latest is None and holder is entry):
            scheduled_at = find_time(schedule, _RELEASE, day=chart_date)
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
