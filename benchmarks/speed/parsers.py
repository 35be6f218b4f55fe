"""Figures of the parsers: one body of a usual size each, beside plain decoding of its JSON.

Plain decoding (orjson) is the limit: no parser can be faster. Run alone: `make bench ROW=parsers`.
"""

import copy
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import orjson

from benchmarks.fuzz.containers import to_body, to_document
from benchmarks.fuzz.holding import SEEN
from benchmarks.speed.running import Figure, Workspace
from tests.platform.shape_answers import Shape, parse_as, read_index

ROUNDS = 300
ROUNDS_OF_LARGE = 30
"""Of bodies that take ten times as long as a usual one: their median is as steady."""
ITEMS = 20
PAGE_BYTES = 32 * 1024
AIM = "2 ms"
YEARS = range(2021, 2027)
DAYS = 365


def measure_parsers(space: Workspace) -> Iterator[Figure]:
    """CPU time of one body, median, with the time of decoding alone."""
    shapes = {shape.file: shape for shape in read_index()}
    for name, file, grow in (
        (f"list page of {ITEMS} items", "music_list/first_page.json", _list_page),
        (f"search page of {ITEMS} whole works", "search_single/page.json", _search_page),
        ("share page of 32 KB", "video_page/video.html", _share_page),
        ("detail body", "detail/video.json", _as_it_is),
    ):
        yield name, _figure(shapes[file], grow, rounds=ROUNDS), AIM
    for name, file, grow in (
        ("100 songs of the chart", "chart_songs/songs.json", _songs),
        ("2,190 issues of the chart", "chart_issues/issues.json", _issues),
    ):
        yield name, _figure(shapes[file], grow, rounds=ROUNDS_OF_LARGE), ""


def _figure(shape: Shape, grow: Callable[[Any], None], *, rounds: int) -> str:
    document = to_document(shape)
    grow(document)
    body, text = to_body(shape, document), orjson.dumps(document)
    parsing = _median_ms(lambda: parse_as(shape, body, SEEN), rounds)
    decoding = _median_ms(lambda: orjson.loads(text), rounds)
    return f"{parsing:.2f} ms of {len(body) / 1024:.0f} KB, decoding alone {decoding:.2f} ms"


def _median_ms(call: Callable[[], object], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        began = time.process_time_ns()
        call()
        times.append((time.process_time_ns() - began) / 1e6)
    return statistics.median(times)


def _as_it_is(_document: Any) -> None:
    """Already of a usual size."""


def _list_page(document: Any) -> None:
    document["aweme_list"] = _numbered(document["aweme_list"][0])


def _search_page(document: Any) -> None:
    work = document["data"][0]["aweme_info"]
    document["data"] = [{"type": 1, "aweme_info": one} for one in _numbered(work)]


def _numbered(work: Any) -> list[Any]:
    return [{**copy.deepcopy(work), "aweme_id": f"75681234567890{n:05}"} for n in range(ITEMS)]


def _share_page(document: Any) -> None:
    """Settings of experiments are what fills a page beside its work."""
    page = document["loaderData"]["video_(id)/page"]
    missing = PAGE_BYTES - len(orjson.dumps(document))
    page["abParams"] = {f"param_{n}": {"value": n, "from": "web"} for n in range(missing // 38)}


def _songs(document: Any) -> None:
    document["data"]["info"] = [copy.deepcopy(document["data"]["info"][0]) for _ in range(100)]


def _issues(document: Any) -> None:
    entry = document["data"]["info"][0]["vols"][0]
    document["data"]["info"] = [
        {"year": year, "vols": [{**entry, "volid": year * 1000 + day} for day in range(DAYS)]}
        for year in YEARS
    ]
