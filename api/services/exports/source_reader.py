"""Calls this service's own read operations for the response that a table is exported from.

An export therefore shows exactly what the operation returns. Only reads with a table are allowed,
and nothing leaves the process. Not here: tables, files.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

import orjson
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Scope

from api.responses.envelope import RequestInfo, request_info
from api.services.exports.tables import TableName
from api.services.job_document import JOBS_PATH
from warehouse.records.errors import InvalidParameterError
from warehouse.records.values import Document

_ID = r"[^/]{1,200}"
SOURCES: tuple[tuple[re.Pattern[str], frozenset[TableName]], ...] = (
    (
        re.compile(f"{JOBS_PATH}/{_ID}|/api/v1/sametrack/jobs/{_ID}/ranking"),
        frozenset({"videos", "accounts", "variants", "versions", "search_related", "coverage"}),
    ),
    (re.compile(f"/api/v1/sametrack/jobs/{_ID}/comparisons"), frozenset({"comparisons"})),
    (re.compile(f"/api/v1/sametrack/series/(video|track|account)/{_ID}"), frozenset({"series"})),
    (
        re.compile(f"/api/v1/sametrack/tracks/{_ID}"),
        frozenset({"track_usage", "track_scans"}),
    ),
    (re.compile("/api/v1/vidplat/app/v3/fetch_user_post_videos"), frozenset({"videos"})),
    (re.compile("/api/v1/vidplat/app/v3/fetch_music_video_list"), frozenset({"videos"})),
    (re.compile("/api/v1/vidplat/app/v3/fetch_hashtag_video_list"), frozenset({"videos"})),
    (re.compile("/api/v1/vidplat/app/v3/fetch_user_metrics"), frozenset({"metrics"})),
    (re.compile("/api/v1/music/chartsrc/top500/history"), frozenset({"chart"})),
    (re.compile(f"/api/v1/sametrack/catalogs/{_ID}/tracks"), frozenset({"catalog"})),
)
"""Operations that can be exported, and the tables of their responses."""
_HINT = (
    "Pass the path and query of a job, its comparisons, a list, metrics, series, chart, track or "
    "the tracks of a catalogue"
)


def check_source(source: str, table: TableName) -> None:
    """Check that `source` is a read of this service with that table.

    Raises:
        InvalidParameterError: It is not a read, or it has no such table.
    """
    try:
        path = urlsplit(source).path
    except ValueError as exc:
        raise InvalidParameterError(
            f"`source` {source[:60]!r} is not an address", hint=_HINT
        ) from exc
    for pattern, tables in SOURCES:
        if pattern.fullmatch(path):
            if table in tables:
                return
            raise InvalidParameterError(
                f"`source` has no table {table!r}", hint=f"Its tables: {', '.join(sorted(tables))}"
            )
    raise InvalidParameterError(
        f"`source` {path[:60]!r} is not an operation that can be exported",
        hint=_HINT,
    )


def owner_of(source: str) -> str | None:
    """Return the read of the job that a list of compared pairs belongs to; None for others."""
    match = re.fullmatch(f"/api/v1/sametrack/jobs/({_ID})/comparisons", urlsplit(source).path)
    return None if match is None else f"{JOBS_PATH}/{match[1]}"


@dataclass(frozen=True, slots=True)
class SourceResponse:
    """This service's response to a source; `headers` may have a `Retry-After`."""

    status: int
    envelope: Document
    headers: Mapping[str, str]


async def fetch_source(app: ASGIApp, scope: Scope, source: str) -> SourceResponse:
    """Return this service's response to `source`.

    Args:
        app: The routes, without the middleware: the caller has passed it already.
        scope: The request for the export.
        source: Path and query that `check_source` has accepted.
    """
    split = urlsplit(source)
    outer = request_info(scope)
    inherited = ("type", "asgi", "http_version", "scheme", "client", "server")
    inner_scope: Scope = {
        **{name: scope[name] for name in inherited if name in scope},
        "method": "GET",
        "path": unquote(split.path),
        "raw_path": split.path.encode(),
        "query_string": split.query.encode(),
        "root_path": "",
        "headers": [pair for pair in scope["headers"] if pair[0] == b"host"],
        # The envelope of the read has the id and the time of the export.
        "state": {"call": RequestInfo(outer.request_id, outer.moment, outer.time_zone, split.path)},
    }
    # Collect the response: one start, then any number of parts of the body.
    start: Message = {}
    body = bytearray()

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        nonlocal start
        start = message if message["type"] == "http.response.start" else start
        body.extend(message.get("body", b""))

    await app(inner_scope, receive, send)
    retry_after = Headers(raw=start["headers"]).get("Retry-After")
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return SourceResponse(start["status"], orjson.loads(bytes(body)), headers)
