"""Bodies for bug reports: what the parsers make of one, and one without names of anybody."""

import html
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, is_dataclass
from datetime import UTC, date, datetime, timedelta
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlsplit

import orjson

from pipelines.platform.page_scripts import find_title
from pipelines.platform.parsers.desktop import ROWS, to_snake
from pipelines.platform.parsers.lists import foreign_rows_error
from pipelines.platform.parsers.pages import parse_container
from pipelines.platform.parsers.search import read_stream
from pipelines.platform.refusal_table import REFUSALS, Refusal, refusal_error, refusal_of
from pipelines.platform.reparse import ArchivedBody, BodyParser
from pipelines.platform.sources.table import PARSER_VERSION
from warehouse.exports.pseudonyms import Pseudonyms
from warehouse.records.errors import SametrackError, UpstreamError
from warehouse.records.values import Document
from warehouse.records.videos import Unavailability, VideoPage

# Bodies as payload and form: what is decoded can be changed, and encoded in the same form again.
#
# The forms are plain JSON, documents one after another (framed, glued or one a line, also if the
# last one was cut off), and a page with a data container. A page is encoded as the smallest page
# with that container.

_CAPTIONED = frozenset({"desc", "nickname"})
_RENDERED = b'id="RENDER_DATA"'


@dataclass(frozen=True, slots=True)
class DecodedBody:
    """A payload, and the function that encodes it in the form that it came in."""

    payload: Any
    encode: Callable[[object], bytes]


def decode_body(body: bytes) -> DecodedBody | None:
    """Decode a body; None if it holds no JSON in a known form."""
    if body.lstrip()[:1] == b"<":
        return _decode_page(body)
    try:
        return DecodedBody(orjson.loads(body), encode_json)
    except orjson.JSONDecodeError:
        return _decode_stream(body)


def encode_json(payload: object) -> bytes:
    """Encode a payload as the platform does: compact, not escaped."""
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()


def _decode_page(body: bytes) -> DecodedBody | None:
    try:
        payload = parse_container(body, surface="page").values
    except UpstreamError:
        return None
    title = find_title(body)
    # only a page without data is judged by its title; that of a video repeats its caption
    is_judged = title is not None and not _has_key(payload, _CAPTIONED)
    text = html.escape(title) if title is not None and is_judged else ""
    is_rendered = b"_ROUTER_DATA" not in body and _RENDERED in body
    is_stream = ROWS in payload

    def encode(changed: object) -> bytes:
        if is_stream:
            script = f"<script>self.__pace_f.push([1,{_in_script(_to_rows(changed))}])</script>"
        elif is_rendered:
            data = quote(encode_json(changed))
            script = f'<script id="RENDER_DATA" type="application/json">{data}</script>'
        else:
            script = f"<script>window._ROUTER_DATA = {_in_script(encode_json(changed))}</script>"
        page = (
            f"<!DOCTYPE html><html><head><title>{text}</title></head><body>{script}</body></html>"
        )
        return page.encode()

    return DecodedBody(payload, encode)


def _to_rows(changed: object) -> bytes:
    """Encode the rows of a streamed page as the text of one chunk."""
    rows = changed.get(ROWS) if isinstance(changed, dict) else None
    lines = rows.items() if isinstance(rows, dict) else ()
    return encode_json("".join(f"{name}:{encode_json(row).decode()}\n" for name, row in lines))


def _has_key(value: object, keys: frozenset[str]) -> bool:
    if isinstance(value, dict):
        return not keys.isdisjoint(value) or any(_has_key(item, keys) for item in value.values())
    return isinstance(value, list) and any(_has_key(item, keys) for item in value)


def _in_script(data: bytes) -> str:
    """Return JSON that cannot end the script it stands in."""
    return data.decode().replace("<", "\\u003c")


def _decode_stream(body: bytes) -> DecodedBody | None:
    """Decode the documents that arrived whole; of one that was cut off, its beginning."""
    try:
        stream = read_stream(body, surface="stream")
    except UpstreamError:
        return None
    is_framed = body.lstrip()[:1] != b"{"

    def encode(changed: object) -> bytes:
        documents = [encode_json(document) for document in _as_list(changed)]
        if not is_framed:
            return b"\n".join([*documents, b"{" if stream.is_cut else b""])
        frames = b"".join(b"%x\r\n%b\r\n" % (len(document), document) for document in documents)
        return frames + (b"2\r\n{" if stream.is_cut else b"0\r\n\r\n")

    return DecodedBody([document.values for document in stream.documents], encode)


def _as_list(payload: object) -> list[object]:
    return payload if isinstance(payload, list) else [payload]


# What the product makes of one body: its records, or the refusal that it is. For bug reports.
#
# The fields of a record are those of its class in `warehouse/records`.

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
    if isinstance(value, Unavailability):
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


# Pseudonymised bodies: accounts and videos become keyed hashes, what people wrote becomes dots.
#
# The ids keep their form, so that the parsers read the body as before: a number stays a number of
# equal length, and a video's id keeps its upper half, which is the second it was created in (its
# `create_time` says the same). Ids and titles of music and hashtags stay. Addresses keep their
# host.

_ACCOUNT_KEYS = frozenset({
    "sec_uid", "sec_user_id", "secuid", "uid", "user_id", "author_user_id", "owner_id",
    "unique_id", "uniqueid", "short_id", "shortid", "owner_handle", "custom_verify",
})  # fmt: skip
_PUBLIC_PARTS = frozenset({
    "music", "music_info", "matched_pgc_sound", "cha_list", "ch_info", "challenge_info",
    "text_extra", "extra", "log_pb", "diversion_music_detail_preload", "track_info", "track_list",
    "track", "playlist_info", "album_info",
})  # fmt: skip
"""Objects whose own ids are those of music, hashtags or log lines."""
_PUBLIC_IDS = frozenset({"mid", "hashtag_id", "cid", "ch_id", "track_id"})
_KEPT_TEXTS = frozenset({
    "title", "hashtag_name", "cha_name", "filter_reason", "notice", "detail_msg", "track_name",
    "artist_name", "search_nil_type", "search_nil_item", "music_display_mapping_title", "type",
    "status_msg", "error", "message",
})  # fmt: skip
_NAMES = frozenset({"nickname", "owner_nickname", "remark_name", "unique_id", "sec_uid"})
_VISITOR = re.compile("token|ticket|secret|web_?id|device|ttwid|odin|client_ip|remote")
"""Parts of keys, in lower case, whose texts identify the visitor, that is this machine."""
_WRITTEN = frozenset({
    "nickname", "owner_nickname", "remark_name", "signature", "desc", "author", "ip_location",
    "city", "province", "country", "school_name", "share_title", "share_desc", "share_quote",
    "vid", "uri", "video_id", "file_hash", "owner_desc", "enterprise_verify_reason",
})  # fmt: skip
"""What people wrote or show of themselves, and names of files: always dots."""
_WORD = re.compile(r"[A-Za-z0-9_./:%-]{0,24}", re.ASCII)
_COUNT = re.compile("[0-9][0-9.,]*[万亿wWkKmM]?[+]?")  # "1.2万"
_LONG_NUMBER = re.compile(r"[0-9]{15,20}", re.ASCII)
_TRACE = re.compile(
    rb"MS4wLjABAAAA|(?<![0-9])[0-9]{15,20}(?![0-9])|sec_?u(?:ser_?)?id|nickname|unique_?id",
    re.IGNORECASE,
)
"""What a body in no known form has only if it names an account or a video."""
_HASHED = 12
_SILENT = "images_no_sound_volume_audio_file"
_OWN_SOUND = re.compile("@(.+?)(?=创作的原声)")
_SHORTEST_NAME = 3  # shorter ones are parts of other words
_LOW_BITS = 32


class BodyPseudonymiser:
    """Changes bodies with one key: equal ids become equal pseudonyms in all of them."""

    def __init__(self, pseudonyms: Pseudonyms) -> None:
        self._pseudonyms = pseudonyms
        self._written: tuple[str, ...] = ()

    def body(self, body: bytes) -> bytes | None:
        """Return the changed body; None if a name that it holds could not be removed.

        A body in no known form (a refusal page, a text) is returned unchanged if nothing in it
        looks like an account or a video.
        """
        decoded = decode_body(body)
        if decoded is None:
            return None if _TRACE.search(body) else body
        names = {name for name in _names(decoded.payload) if len(name) >= _SHORTEST_NAME}
        self._written = tuple(sorted(names, key=len, reverse=True))
        changed = decoded.encode(self._changed(decoded.payload, "", ""))
        return None if any(name.encode() in changed for name in names) else changed

    def entity(self, surface: str, entity_id: str) -> str:
        """Return what an id of a request becomes: the same as in the body."""
        if surface == "user_by_handle":
            return "@" + self._account(entity_id.removeprefix("@"))
        if surface.startswith("user_"):
            return self._account(entity_id)
        if surface.startswith(("music_", "trends_", "service_", "hashtag_", "chart_")):
            return entity_id
        return self._work(entity_id) if _LONG_NUMBER.fullmatch(entity_id) else ""

    def _changed(self, value: Any, key: str, part: str) -> Any:
        if isinstance(value, dict):
            return {
                name: self._changed(below, to_snake(name), key or part)
                for name, below in value.items()
            }
        if isinstance(value, list):
            return [self._changed(below, key, part) for below in value]
        if isinstance(value, str):
            return self._text(value, key, part)
        if type(value) is int:
            return int(self._number(str(value), key, part))
        return value

    def _text(self, value: str, key: str, part: str) -> str:
        if value[:1] == "{" and (inner := _object_in(value)) is not None:
            changed = self._changed(inner, "extra", part)
            return orjson.dumps(changed).decode()
        if _VISITOR.search(key):
            return "" if not value else "0"
        if key in _ACCOUNT_KEYS:
            return self._account(value)
        if value.startswith(("http://", "https://", "//")):
            return self._address(value)
        if value.isdigit():
            return self._number(value, key, part)
        return self._words(value, key, part)

    def _words(self, value: str, key: str, part: str) -> str:
        if key == "title" and part in _PUBLIC_PARTS:
            named = _OWN_SOUND.sub(lambda name: "@" + self._hash("account", name[1]), value)
            return self._without_names(named)
        if key not in _WRITTEN and _COUNT.fullmatch(value):
            return value
        if key in _KEPT_TEXTS and key != "title":
            return self._without_names(value)
        if _WORD.fullmatch(value) and not _LONG_NUMBER.search(value) and key not in _WRITTEN:
            return value
        return _SILENT if _SILENT in value else "·" * len(value)

    def _without_names(self, text: str) -> str:
        for name in self._written:
            text = text.replace(name, self._hash("account", name))
        return text

    def _number(self, value: str, key: str, part: str) -> str:
        if key in _ACCOUNT_KEYS and value != "0":
            return self._account(value)
        is_public = part in _PUBLIC_PARTS and "item" not in key and "aweme" not in key
        is_public = is_public or "music" in key or key in _PUBLIC_IDS
        if is_public or not _LONG_NUMBER.fullmatch(value):
            return value
        return self._work(value)

    def _work(self, value: str) -> str:
        low = int(self._digest("work", value), 16) & (2**_LOW_BITS - 1)
        return str(int(value) >> _LOW_BITS << _LOW_BITS | low)

    def _account(self, value: str) -> str:
        if not value or value == "0":
            return value
        digest = self._digest("account", value)
        if value.isdigit():
            number = str(int(digest, 16))
            return "1" + (number * 2)[: len(value) - 1]
        prefix = value[:12] if value.startswith("MS4w") else ""
        return (prefix + digest * 4)[: max(len(value), _HASHED)]

    def _address(self, value: str) -> str:
        if _SILENT in value:
            return value.partition("?")[0]
        parts = urlsplit(value)
        scheme = f"{parts.scheme}:" if parts.scheme else ""
        return f"{scheme}//{parts.netloc}/{self._hash('address', value)}"

    def _hash(self, kind: str, value: str) -> str:
        return self._digest(kind, value)[:_HASHED]

    def _digest(self, kind: str, value: str) -> str:
        return self._pseudonyms.of(kind, value).rpartition("-")[2]


def _names(value: Any) -> Iterator[str]:
    """Yield the names and ids of accounts in a payload."""
    if isinstance(value, dict):
        for key, below in value.items():
            if to_snake(key) in _NAMES and isinstance(below, str) and below:
                yield below
            yield from _names(below)
    elif isinstance(value, list):
        for below in value:
            yield from _names(below)
    elif isinstance(value, str) and (inner := _object_in(value)) is not None:
        yield from _names(inner)


def _object_in(text: str) -> dict[str, Any] | None:
    if text[:1] != "{":
        return None
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return document if isinstance(document, dict) else None
