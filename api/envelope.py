"""The one envelope of every JSON answer under `/api/v1/`, success and failure alike.

Built here and nowhere else. What goes into `data` is the routes' business.
"""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import orjson
from starlette.responses import Response
from starlette.types import Scope

from api.errors import NOT_MODIFIED, OK, SUCCESS, answer_of, with_hint
from pipelines.domain.errors import SametrackError

DOCS_PATH = "/docs"


@dataclass(frozen=True, slots=True)
class Call:
    """What an envelope says about the request. `params` fills up once they are understood."""

    request_id: str
    moment: datetime
    time_zone: ZoneInfo
    path: str
    params: dict[str, Any] = field(default_factory=dict)


class Json(Response):
    """A JSON answer in UTF-8, encoded by orjson."""

    media_type = "application/json"

    def render(self, content: object) -> bytes:
        """Encode; text that is no Unicode has been refused at the door."""
        return orjson.dumps(content)


def call_of(scope: Scope) -> Call:
    """The call that the outermost layer opened for this request."""
    found: Call = scope["state"]["call"]
    return found


def understood(scope: Scope, params: Mapping[str, Any]) -> None:
    """Note the parameters as the service understood them: typed, defaults in, aliases resolved."""
    call_of(scope).params.update(params)


def success(
    scope: Scope, data: object, *, status: int = OK, headers: Mapping[str, str] | None = None
) -> Response:
    """Wrap `data` in the envelope."""
    message, message_zh = SUCCESS[status]
    content = _envelope(scope, status, message, message_zh, data)
    return Json(content, status_code=status, headers=dict(headers or {}))


@dataclass(frozen=True, slots=True)
class Rendered:
    """A `data` that is encoded already; `tag` tells one content from another."""

    body: bytes
    tag: str


def render(data: object) -> Rendered:
    """Encode what will be sent more than once."""
    body = orjson.dumps(data)
    return Rendered(body, hashlib.blake2b(body, digest_size=12).hexdigest())


def read(scope: Scope, data: object, *, headers: Mapping[str, str] | None = None) -> Response:
    """Wrap what was read; 304 when the reader has the same `data` already."""
    rendered = data if isinstance(data, Rendered) else render(data)
    tag = f'W/"{rendered.tag}"'
    fresh = {"ETag": tag, "Cache-Control": "private, no-cache"}
    if tag in _tags_known(scope):
        return Response(status_code=NOT_MODIFIED, headers=fresh)
    return success(scope, orjson.Fragment(rendered.body), headers={**(headers or {}), **fresh})


def failure(
    scope: Scope, error: SametrackError, *, headers: Mapping[str, str] | None = None
) -> Response:
    """Tell an error in the envelope: status, both languages, what to do next."""
    document = with_hint(error.to_document())
    answer = answer_of(error.type)
    content = _envelope(
        scope, answer.status, answer.message, answer.message_zh, {"error": document}
    )
    more = dict(headers or {})
    if error.retry_after is not None:
        more["Retry-After"] = str(math.ceil(error.retry_after))
    if error.type == "unauthorized":
        more["WWW-Authenticate"] = "Bearer"
    return Json(content, status_code=answer.status, headers=more)


def _envelope(
    scope: Scope, status: int, message: str, message_zh: str, data: object
) -> dict[str, object]:
    call = call_of(scope)
    local = call.moment.astimezone(call.time_zone)
    return {
        "code": status,
        "request_id": call.request_id,
        "message": message,
        "message_zh": message_zh,
        "time": local.strftime("%Y-%m-%d %H:%M:%S"),
        "time_stamp": int(call.moment.timestamp()),
        "time_zone": call.time_zone.key,
        "docs": _docs(scope),
        "router": call.path,
        "params": call.params,
        "data": data,
    }


def _docs(scope: Scope) -> str:
    """The operation on the reference page; the page itself where there is no operation."""
    route = scope.get("route")
    unique_id, tags = getattr(route, "unique_id", None), getattr(route, "tags", None)
    return f"{DOCS_PATH}#/{tags[0]}/{unique_id}" if unique_id and tags else DOCS_PATH


def _tags_known(scope: Scope) -> set[str]:
    values = [value.decode("latin-1") for key, value in scope["headers"] if key == b"if-none-match"]
    return {tag.strip() for value in values for tag in value.split(",")}
