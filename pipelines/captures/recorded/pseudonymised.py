"""Pseudonymised bodies: accounts and videos become keyed hashes, what people wrote becomes dots.

The ids keep their form, so that the parsers read the body as before: a number stays a number of
equal length, and a video's id keeps its upper half, which is the second it was created in (its
`create_time` says the same). Ids and titles of music and hashtags stay. Addresses keep their host.
"""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import orjson

from pipelines.captures.recorded.body_forms import decode_body
from pipelines.platform.parsers.desktop import to_snake
from warehouse.exports.pseudonyms import Pseudonyms

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
