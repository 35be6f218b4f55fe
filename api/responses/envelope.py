"""The envelope of every JSON response under `/api/v1/`, for success and failure.

Only this module builds it. Routes decide what goes into `data`.
"""

import hashlib
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

import orjson
from starlette.responses import Response
from starlette.types import Scope, Send

from api.responses.errors import NOT_MODIFIED, OK, SUCCESS, error_spec, with_hint
from warehouse.records.errors import SametrackError

DOCS_PATH = "/docs"
_TIME_FORMAT = "%Y-%m-%d %H:%M:%S"
_VALIDATOR_HEADERS = (b"etag", b"cache-control")
# Compression adds this only to responses with a body; one without a body names it too.
_VARY = "Accept-Encoding"


@dataclass(frozen=True, slots=True)
class CachePolicy:
    """How long a response may be cached: until a time, and until one of the entities changes."""

    entities: frozenset[str]
    until: datetime | None


@dataclass(frozen=True, slots=True)
class CachedResponse:
    """A cached response. `tail` is the part of the envelope that is the same for every request."""

    tail: bytes
    tag: str
    headers: tuple[tuple[bytes, bytes], ...]
    route: str


@dataclass(slots=True)
class RequestInfo:
    """What an envelope says about its request. `params` is filled once they are validated.

    `cache_policy` and `cacheable` are for the response cache: whether the response may be cached,
    and the response itself. `route` is the path template, set where the scope has none.
    """

    request_id: str
    moment: datetime
    time_zone: ZoneInfo
    path: str
    params: dict[str, object] = field(default_factory=dict)
    cache_policy: CachePolicy | None = None
    cacheable: CachedResponse | None = None
    route: str = ""


class JsonResponse(Response):
    """A JSON response in UTF-8, encoded by orjson."""

    media_type = "application/json"

    def render(self, content: object) -> bytes:
        """Encode the content. Text that is not valid Unicode was refused before."""
        return orjson.dumps(content)


def request_info(scope: Scope) -> RequestInfo:
    """Return the `RequestInfo` that the outermost middleware created for this request."""
    info: RequestInfo = scope["state"]["call"]
    return info


def record_parameters(scope: Scope, params: Mapping[str, object]) -> None:
    """Record the effective parameters: typed, with defaults, aliases resolved."""
    request_info(scope).params.update(params)


def success_response(
    scope: Scope, data: object, *, status: int = OK, headers: Mapping[str, str] | None = None
) -> Response:
    """Wrap `data` in the envelope."""
    message, message_zh = SUCCESS[status]
    content = _envelope(scope, status, message, message_zh, data)
    return JsonResponse(content, status_code=status, headers=dict(headers or {}))


@dataclass(frozen=True, slots=True)
class EncodedData:
    """Encoded `data`; `tag` identifies its content."""

    body: bytes
    tag: str


def encode_data(data: object) -> EncodedData:
    """Encode data that is sent more than once."""
    body = orjson.dumps(data)
    return EncodedData(body, hashlib.blake2b(body, digest_size=12).hexdigest())


def conditional_response(
    scope: Scope, data: object, *, headers: Mapping[str, str] | None = None
) -> Response:
    """Wrap the `data` of a read with an ETag; answer 304 if the client already has it.

    `cache_response` is called before it, if at all.
    """
    call = request_info(scope)
    encoded = data if isinstance(data, EncodedData) else encode_data(data)
    # A weak tag: it identifies `data` alone, while request id and time differ in each envelope.
    tag = f'W/"{encoded.tag}"'
    all_headers = {**(headers or {}), "ETag": tag, "Cache-Control": "private, no-cache"}
    not_modified = None
    if tag in _client_etags(scope):
        not_modified = Response(status_code=NOT_MODIFIED, headers={**all_headers, "Vary": _VARY})
        if call.cache_policy is None:  # nobody needs the body, which may be large
            return not_modified
    # Without its first brace, which stands in front of the fields of each request.
    tail = memoryview(orjson.dumps(_stable_fields(scope, orjson.Fragment(encoded.body))))[1:]
    if call.cache_policy is not None:
        typed_headers = {"Content-Type": JsonResponse.media_type, **all_headers}
        call.cacheable = CachedResponse(
            tail=bytes(tail),
            tag=tag,
            headers=tuple(
                (name.lower().encode(), value.encode()) for name, value in typed_headers.items()
            ),
            route=route_of(scope),
        )
    return not_modified or Response(
        _success_body(call, tail), headers=all_headers, media_type=JsonResponse.media_type
    )


def route_of(scope: Scope) -> str:
    """Return the path template of the operation that produced the response, "" if there is none."""
    return request_info(scope).route or str(getattr(scope.get("route"), "path", ""))


async def send_cached_response(scope: Scope, cached: CachedResponse, send: Send) -> None:
    """Send a cached response with the request's own id and time, or 304 if the client has it."""
    call = request_info(scope)
    call.route = cached.route
    if cached.tag in _client_etags(scope):
        status, body = NOT_MODIFIED, b""
        headers = [header for header in cached.headers if header[0] in _VALIDATOR_HEADERS]
        headers.append((b"vary", _VARY.encode()))
    else:
        body = _success_body(call, cached.tail)
        status, headers = OK, [(b"content-length", b"%d" % len(body)), *cached.headers]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def error_response(
    scope: Scope, error: SametrackError, *, headers: Mapping[str, str] | None = None
) -> Response:
    """Build the error response: status, message in both languages, hint."""
    document = with_hint(error.to_document())
    spec = error_spec(error.type)
    content = _envelope(scope, spec.status, spec.message, spec.message_zh, {"error": document})
    all_headers = dict(headers or {})
    if error.retry_after is not None:
        # The header has whole seconds; rounded down, a client would come too early.
        all_headers["Retry-After"] = str(math.ceil(error.retry_after))
    if error.type == "unauthorized":
        all_headers["WWW-Authenticate"] = "Bearer"
    return JsonResponse(content, status_code=spec.status, headers=all_headers)


def _envelope(
    scope: Scope, status: int, message: str, message_zh: str, data: object
) -> dict[str, object]:
    call = request_info(scope)
    second = int(call.moment.timestamp())
    return {
        "code": status,
        "request_id": call.request_id,
        "message": message,
        "message_zh": message_zh,
        "time": datetime.fromtimestamp(second, call.time_zone).strftime(_TIME_FORMAT),
        "time_stamp": second,
        **_stable_fields(scope, data),
    }


def _stable_fields(scope: Scope, data: object) -> dict[str, object]:
    """Return the fields that are the same for every request to this path and query."""
    call = request_info(scope)
    # The reference page has an anchor for each operation that the description lists.
    route = scope.get("route")
    unique_id, tags = getattr(route, "unique_id", None), getattr(route, "tags", None)
    return {
        "time_zone": call.time_zone.key,
        "docs": f"{DOCS_PATH}#/{tags[0]}/{unique_id}" if unique_id and tags else DOCS_PATH,
        "router": call.path,
        "params": call.params,
        "data": data,
    }


def _success_body(call: RequestInfo, tail: bytes | memoryview) -> bytes:
    """Return an envelope as bytes, joined: what is cached is not encoded again."""
    middle = _success_middle(int(call.moment.timestamp()), call.time_zone)
    return b"".join((_SUCCESS_HEAD, call.request_id.encode(), middle, tail))


_SUCCESS_HEAD = b'{"code":%d,"request_id":"' % OK


@lru_cache(maxsize=4)
def _success_middle(second: int, time_zone: ZoneInfo) -> bytes:
    """Return the part between request id and tail, which is the same within one second."""
    message, message_zh = SUCCESS[OK]
    time = datetime.fromtimestamp(second, time_zone).strftime(_TIME_FORMAT)
    document = {
        "message": message,
        "message_zh": message_zh,
        "time": time,
        "time_stamp": second,
    }
    return b'",' + orjson.dumps(document)[1:-1] + b","


def _client_etags(scope: Scope) -> Collection[str]:
    tags: list[str] = []
    for name, value in scope["headers"]:
        if name == b"if-none-match":
            tags += [tag.strip() for tag in value.decode("latin-1").split(",")]
    return tags
