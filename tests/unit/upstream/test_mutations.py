"""Whatever a payload turns into, a parser gives records that fit the lake, or a named error."""

import ast
import copy
import tomllib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

import pipelines.upstream.vidplat as parsers
from pipelines.domain.errors import SametrackError
from pipelines.domain.records import Account, Track, VideoDetail, VideoPage
from pipelines.upstream.vidplat.accounts import parse_user_info
from pipelines.upstream.vidplat.lists import (
    parse_detail_body,
    parse_music_list,
    parse_slides_info,
    parse_user_page,
    parse_user_posts,
)
from pipelines.upstream.vidplat.music import parse_music_info
from pipelines.upstream.vidplat.pages import parse_work_page
from pipelines.upstream.vidplat.videos import Seen
from warehouse.contract import to_arrow
from warehouse.rows import account_row, track_row, video_row
from warehouse.tables import BY_NAME

SHAPES = Path(__file__).parents[2] / "shapes"
SEEN = Seen(surface="any", observed_at=datetime(2026, 11, 20, tzinfo=UTC), link_of=str)
ORIGIN: Any = {"capture_id": "c", "job_id": None, "data_provider": "public-graph"}
PARSERS: dict[str, Callable[[bytes, str], object]] = {
    "work_page": lambda body, asked: parse_work_page(body, aweme_id=asked, seen=SEEN),
    "detail_body": lambda body, asked: parse_detail_body(body, aweme_id=asked, seen=SEEN),
    "slides_info": lambda body, asked: parse_slides_info(body, aweme_id=asked, seen=SEEN),
    "music_info": lambda body, asked: parse_music_info(body, music_id=asked, seen=SEEN),
    "music_list": lambda body, _: parse_music_list(body, seen=SEEN),
    "user_posts": lambda body, asked: parse_user_posts(body, sec_uid=asked, seen=SEEN),
    "user_page": lambda body, asked: parse_user_page(body, sec_uid=asked, seen=SEEN),
    "user_info": lambda body, asked: parse_user_info(body, sec_uid=asked, seen=SEEN),
}
STRANGE: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 3.5, 1e300, 2**63, 2**64 - 1, "", "x", "0", "\x00", "1.2w",
    "9" * 40, "a" * 5000, [], [None], ["x"], [[]], {}, {"url_list": [1]}, {"": {}},
    [{"aweme_id": None}],
)  # fmt: skip


def _with_records() -> list[tuple[str, str, Any]]:
    """Shapes that hold records, as (parser, asked, decoded document)."""
    index = tomllib.loads((SHAPES / "index.toml").read_text("utf-8"))["shape"]
    found = []
    for entry in index:
        if entry["outcome"] in {"records", "unavailable"}:
            body = (SHAPES / entry["file"]).read_bytes()
            found.append((entry["parser"], entry["asked"], _document(body)))
    return [entry for entry in found if entry[2] is not None]


def _document(body: bytes) -> Any:
    if body.lstrip()[:1] == b"{":
        return orjson.loads(body)
    for script in LexborHTMLParser(body).css("script"):
        if script.text().startswith("window._ROUTER_DATA"):
            return orjson.loads(script.text().partition("=")[2])
    return None


DOCUMENTS = _with_records()


def _body(parser: str, document: Any) -> bytes:
    text = orjson.dumps(document)
    if not parser.endswith("_page"):
        return text
    return b"<script>window._ROUTER_DATA = " + text.replace(b"/", b"\\u002F") + b"</script>"


def _places(node: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) of a document."""
    keys = node if isinstance(node, dict) else range(len(node))
    for key in list(keys):
        yield node, key
        if isinstance(node[key], dict | list):
            yield from _places(node[key])


def _mutate(document: Any, data: st.DataObject) -> None:
    places = list(_places(document))
    container, key = data.draw(st.sampled_from(places))
    how = data.draw(st.sampled_from(["gone", "strange", "deeper", "twice", "moved"]))
    if how == "gone":
        del container[key]
    elif how == "strange":
        container[key] = copy.deepcopy(data.draw(st.sampled_from(STRANGE)))
    elif how == "deeper":
        container[key] = {"data": container[key]}
    elif how == "twice":
        container[key] = [container[key], container[key]]
    else:
        other, name = data.draw(st.sampled_from(places))
        container[key] = copy.deepcopy(other[name])


def _rows(value: object) -> list[tuple[str, dict[str, object]]]:
    if isinstance(value, VideoDetail):
        return [("raw.videos", video_row(value.video, **ORIGIN))]
    if isinstance(value, VideoPage):
        return [("raw.videos", video_row(video, **ORIGIN)) for video in value.videos]
    if isinstance(value, Track):
        return [("raw.tracks", track_row(value, **ORIGIN))]
    if isinstance(value, Account):
        return [("raw.accounts", account_row(value, **ORIGIN))]
    return []


@settings(max_examples=600, deadline=None)
@given(st.data())
def test_mutated_shape_gives_fitting_records_or_a_named_error(data: st.DataObject) -> None:
    parser, asked, original = data.draw(st.sampled_from(DOCUMENTS))
    document = copy.deepcopy(original)
    for _ in range(data.draw(st.integers(1, 3))):
        if any(True for _ in _places(document)):
            _mutate(document, data)
    for name, row in _outcome(parser, _body(parser, document), asked):
        assert to_arrow(BY_NAME[name], [row], committed_at=SEEN.observed_at).num_rows == 1


def _outcome(parser: str, body: bytes, asked: str) -> list[tuple[str, dict[str, object]]]:
    """Rows of the records; none for a named error. Any other error is the test's failure."""
    try:
        return _rows(PARSERS[parser](body, asked))
    except SametrackError:
        return []


@settings(max_examples=200, deadline=None)
@given(body=st.binary(max_size=300), parser=st.sampled_from(sorted(PARSERS)))
def test_any_bytes_give_a_named_error(body: bytes, parser: str) -> None:
    with pytest.raises(SametrackError):
        PARSERS[parser](body, "7568123456789012345")


@pytest.mark.parametrize("depth", [200, 5000])
def test_deep_nesting_is_a_named_error(depth: int) -> None:
    body = b'{"status_code":0,"aweme_list":' + b"[" * depth + b"]" * depth + b"}"
    with pytest.raises(SametrackError):
        PARSERS["music_list"](body, "x")


def _handlers() -> Iterator[tuple[str, ast.ExceptHandler]]:
    for path in Path(parsers.__path__[0]).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ExceptHandler):
                yield path.name, node


def test_no_parser_catches_everything() -> None:
    caught = {
        (name, word.id if isinstance(word, ast.Name) else getattr(word, "attr", None))
        for name, handler in _handlers()
        for word in ([handler.type] if not isinstance(handler.type, ast.Tuple) else [])
    }
    assert caught
    assert not {word for _, word in caught} & {None, "Exception", "BaseException", "SametrackError"}
