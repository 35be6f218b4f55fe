"""What the product makes of one body: its records, or the refusal that it is. For bug reports.

The fields of a record are those of its class in `warehouse/records`.
"""

from dataclasses import asdict, is_dataclass
from datetime import UTC, date, datetime, timedelta
from http import HTTPStatus
from typing import Any

from pipelines.platform.parsers.lists import foreign_rows_error
from pipelines.platform.reading import PARSER_VERSION
from pipelines.platform.refusal_table import REFUSALS, Refusal, refusal_error, refusal_of
from pipelines.platform.reparse import ArchivedBody, BodyParser
from warehouse.records.errors import SametrackError, UpstreamError
from warehouse.records.values import Document
from warehouse.records.videos import UnavailableVideo, VideoPage

OUTCOMES = {
    "records": "the body has records",
    "unavailable": "the platform names the video but does not show it",
    "not_shown_here": "this surface leaves out photo posts: the next source is asked",
    "refused": "the body is a refusal",
}
"""What a body can be, with its explanation."""
_FILTERED_PHOTO = next(row for row in REFUSALS if row.name == "filtered_photo")


def parse_to_document(parser: BodyParser, body: ArchivedBody) -> Document:
    """Return what the parsers of today make of a body; an error of a parser is a result.

    Raises:
        KeyError: No parser reads this surface.
    """
    document: Document = {
        "surface": body.surface,
        "entity_id": body.entity_id,
        "http_status": body.status,
        "parser_version": PARSER_VERSION,
        "outcome": "records",
        "record_type": None,
        "record": None,
        "refusal": None,
    }
    try:
        _refuse_unread(body)
        value = parser.read(body)
    except SametrackError as error:
        return document | {"outcome": "refused", "refusal": _refusal(refusal_of(error), error)}
    document |= {"record_type": type(value).__name__, "record": _plain(value)}
    if isinstance(value, VideoPage) and value.is_substituted:
        refused = foreign_rows_error(value)
        return document | {"outcome": "refused", "refusal": _refusal(refusal_of(refused), refused)}
    if isinstance(value, UnavailableVideo):
        record = {**asdict(value), "is_final": value.is_final}
        document |= {"outcome": "unavailable", "record": record}
        if not value.is_final:
            refusal = _refusal(_FILTERED_PHOTO, None) | {"reason": value.filter_reason}
            document |= {"outcome": "not_shown_here", "refusal": refusal}
    return document


def _refuse_unread(body: ArchivedBody) -> None:
    """Raise for a status with which the client never hands a body to a parser.

    Raises:
        RateLimitedError: Status 429.
        UnreachableError: A 5xx.
    """
    if body.status == HTTPStatus.TOO_MANY_REQUESTS:
        row, detail = "rate_limited", "the platform asks for a pause"
    elif body.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        row, detail = "unreachable", f"the platform answered {body.status}"
    else:
        return
    raise refusal_error(row, detail, surface=body.surface, status=body.status)


def _refusal(row: Refusal | None, error: SametrackError | None) -> dict[str, Any]:
    upstream = error if isinstance(error, UpstreamError) else None
    return {
        "name": None if row is None else row.name,
        "type": None if error is None else error.type,
        "reason": None if upstream is None else upstream.reason,
        "detail": None if error is None else error.detail,
        "hint": None if error is None else error.hint,
        "sign": None if row is None else row.sign,
        "policy": [] if row is None else [policy.value for policy in row.policy],
    }


def _plain(value: object) -> Any:
    """Return a record as JSON values; times keep their zone, UTC as `Z`."""
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, datetime):
        is_utc = value.utcoffset() == timedelta(0)
        return f"{value.astimezone(UTC):%Y-%m-%dT%H:%M:%S}Z" if is_utc else value.isoformat()
    return value.isoformat() if isinstance(value, date) else value
