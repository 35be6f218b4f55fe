"""Desktop pages of videos: where their data sits, and their camel-case form as an item.

A page names its video in one of three places: `app.videoDetail` or `<route>.aweme.detail` of the
container `RENDER_DATA`, or `aweme.detail` in a row of the stream that its scripts push to
`__pace_f`. Here each becomes a result with the names of the JSON surfaces (`aweme_detail`,
`filter_detail`, `status_code`), so that one parser reads all of them.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from urllib.parse import urlsplit

from pipelines.platform.page_scripts import TextElement
from pipelines.platform.parsers import fields
from pipelines.platform.parsers.videos import ParseContext
from warehouse.records.errors import StructureChangedError

ROWS = "rows"
"""Key of a streamed container: its rows by their ids, texts and JSON values."""
_PUSH = re.compile(r"__pace_f(?:\s*\|\|\s*\[\]\s*\))?\s*\.push\(\s*(?=\[)")
_ROW = re.compile(r"\s*(?P<id>[0-9a-f]{1,8}):(?:T(?P<length>[0-9a-f]{1,8}),)?", re.ASCII)
_JSON_STARTS = frozenset({"{", "[", '"'})
_DECODER = json.JSONDecoder()
_TEXT_CHUNK = 1  # the first element of a pushed chunk that holds text
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_MAX_DEPTH = 64
_EXACT = 2**53  # a script has rounded a larger number
_RESULT_KEYS = frozenset({"detail", "filterDetail", "statusCode", "verifyData"})
_RENAMED = {"author_info": "author", "stats": "statistics"}
_MISSING = object()


def read_stream_rows(scripts: Iterable[TextElement], *, surface: str) -> fields.JsonNode | None:
    """Return the rows that the scripts of a page push to its stream; None if they push none.

    A row is `id:JSON` up to a line end, or `id:Tlength,text` with the length in bytes. It may be
    split over several chunks. Rows that are no JSON, such as those that name scripts, are left out.

    Raises:
        StructureChangedError: The rows may hold too many values.
    """
    texts = [text for script in scripts for text in _pushed_texts(script.text)]
    if not texts:
        return None
    stream = fields.join_surrogates("".join(texts))  # a script may split it within a character
    fields.refuse_too_many_values(stream.encode(), surface=surface)
    return fields.JsonNode({ROWS: dict(_split_rows(stream))}, surface, "$")


def find_desktop_results(
    container: fields.JsonNode, context: ParseContext
) -> list[fields.JsonNode]:
    """Return the results of a desktop page with the names of the JSON surfaces, in its order.

    A page recommends other videos, so it may have several.

    Raises:
        StructureChangedError: The data is nested too deeply.
    """
    if "loaderData" in container.values:  # a share page
        return []
    # Only a stream has rows, which its values refer to as "$id".
    rows = container.values.get(ROWS)
    reader = _DesktopReader(
        rows=rows if isinstance(rows, dict) else {},
        surface=container.surface,
        # An address without a scheme has that of its page.
        scheme=urlsplit(context.address or "").scheme or "https",
    )
    return list(reader.results(container.values))


def _pushed_texts(script: str) -> Iterator[str]:
    for push in _PUSH.finditer(script):
        try:
            chunk, _ = _DECODER.raw_decode(script, push.end())
        except (ValueError, RecursionError):
            continue
        if len(chunk) > 1 and chunk[0] == _TEXT_CHUNK and isinstance(chunk[1], str):
            yield chunk[1]


def _split_rows(stream: str) -> Iterator[tuple[str, object]]:
    """Yield the rows of a stream; no part of it is read twice, whatever it holds."""
    at = 0
    while at < len(stream):
        row = _ROW.match(stream, at)
        if row is not None and row["length"] is not None:
            size = int(row["length"], 16)
            # The length counts bytes, and a character may take several of them.
            text = stream[row.end() : row.end() + size].encode()[:size].decode("utf-8", "ignore")
            at = row.end() + len(text)  # the next row follows without a line end
            yield row["id"], text
            continue
        if row is not None and stream[row.end() : row.end() + 1] in _JSON_STARTS:
            with suppress(ValueError, RecursionError):
                value, at = _DECODER.raw_decode(stream, row.end())
                yield row["id"], value
                continue
        line_end = stream.find("\n", at)  # a row of another kind
        at = len(stream) if line_end < 0 else line_end + 1


@lru_cache(maxsize=4096)
def to_snake(key: str) -> str:
    """Return a camel-case key in snake case."""
    return _CAMEL.sub("_", key).lower()


class _DesktopReader:
    """Converts the values of one page."""

    def __init__(self, *, rows: Mapping[str, object], surface: str, scheme: str) -> None:
        self._rows = rows
        self._surface = surface
        self._scheme = scheme
        self._values_left = fields.MAX_VALUES

    def results(self, values: object) -> Iterator[fields.JsonNode]:
        """Yield the result under each `videoDetail` and each `aweme` that shows or refuses one."""
        # In the order of the page, and without recursion: a stranger decides how deep it goes.
        waiting: list[object] = [values]
        while waiting:
            value = waiting.pop()
            if isinstance(value, list):
                waiting.extend(reversed(value))
            elif isinstance(value, dict):
                if "videoDetail" in value:
                    yield self._result({"detail": value["videoDetail"]}, "$.videoDetail")
                holder = self._target(value.get("aweme"))
                if isinstance(holder, dict) and _RESULT_KEYS & holder.keys():
                    yield self._result(holder, "$.aweme.detail")
                waiting.extend(reversed(value.values()))

    def _result(self, holder: dict[str, object], path: str) -> fields.JsonNode:
        # Converted apart from the rest: only the detail has the keys of an item.
        detail = self._snaked(self._target(holder.get("detail")))
        rest = self._snaked({key: value for key, value in holder.items() if key != "detail"})
        values = rest if isinstance(rest, dict) else {}
        values["aweme_detail"] = self._item(detail) if isinstance(detail, dict) and detail else None
        return fields.JsonNode(values, self._surface, path)

    def _target(self, value: object) -> object:
        """Return what a reference of the stream names; any other value as it is."""
        if isinstance(value, str) and value.startswith("$"):
            return self._rows.get(value[1:])
        return value

    def _snaked(self, value: object, depth: int = 0) -> object:
        """Return a value with snake-case keys and resolved references.

        A reference to a row that is not there becomes `_MISSING`.
        """
        self._values_left -= 1  # references may name the same row again and again
        if depth > _MAX_DEPTH or self._values_left < 0:
            raise StructureChangedError(
                "the data is nested too deeply or holds too many values",
                surface=self._surface,
                reason="too_many_values",
            )
        if isinstance(value, dict):
            pairs = (
                (to_snake(key), self._snaked(inner, depth + 1)) for key, inner in value.items()
            )
            snaked = {key: inner for key, inner in pairs if inner is not _MISSING}
            if isinstance(urls := snaked.get("url_list"), list):
                snaked |= self._url_list(urls)
            return snaked
        if isinstance(value, list):
            items = (self._snaked(inner, depth + 1) for inner in value)
            return [item for item in items if item is not _MISSING]
        # Only a stream has references; "$$" stands for a text that begins with a dollar sign.
        if self._rows and isinstance(value, str) and value.startswith("$"):
            if value.startswith("$$"):
                return value[1:]
            target = self._rows.get(value[1:], _MISSING)
            return target if isinstance(target, str) else self._snaked(target, depth + 1)
        return fields.join_surrogates(value) if isinstance(value, str) else value

    def _item(self, detail: dict[str, object]) -> dict[str, object]:
        """Return a converted detail in the form of an item of the JSON surfaces."""
        item = {_RENAMED.get(key, key): value for key, value in detail.items()}
        # A desktop page says in the tag of a video that it is pinned.
        if isinstance(tag := item.get("tag"), dict) and item.get("is_top") is None:
            item["is_top"] = tag.get("is_top")
        if isinstance(video := item.get("video"), dict):
            # One address per stream, and one of the player's API, which redirects to the file.
            streams = video.get("play_addr")
            if isinstance(streams, list):
                places = [stream.get("src") for stream in streams if isinstance(stream, dict)]
                video = video | {"play_addr": self._url_list([*places, video.get("play_api")])}
            if not isinstance(video.get("cover"), dict):
                listed = video.get("cover_url_list")
                covers = listed if isinstance(listed, list) else []
                video = video | {"cover": self._url_list([*covers, video.get("cover")])}
            item["video"] = video
        # Desktop authors have the address of one avatar, items a list in three sizes.
        if isinstance(author := item.get("author"), dict) and not author.get("avatar_thumb"):
            item["author"] = author | {"avatar_thumb": self._url_list([author.get("avatar_uri")])}
        if isinstance(music := item.get("music"), dict):
            number = music.get("id")
            # The id as a text is there, too; this one has been rounded.
            if isinstance(number, int) and number > _EXACT:
                item["music"] = {key: value for key, value in music.items() if key != "id"}
        return item

    def _url_list(self, urls: Iterable[object]) -> dict[str, object]:
        texts = [url for url in urls if isinstance(url, str) and url]
        return {
            "url_list": [f"{self._scheme}:{url}" if url.startswith("//") else url for url in texts]
        }
