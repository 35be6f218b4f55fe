"""Bodies that would cost many times their size: each a named error, or read in one pass.

`make fuzz-hostile` measures memory and time of a longer list. Here a reader that is quadratic again
would need minutes.
"""

from collections.abc import Callable
from itertools import cycle

import pytest

from benchmarks.fuzz.bombs import DOCUMENTS, PAGES, SEEN
from pipelines.platform.http.host_policy import AGENT, parse_robots
from pipelines.platform.page_scripts import find_scripts, find_title
from pipelines.platform.parsers.fields import MAX_VALUES, JsonNode, parse_json
from pipelines.platform.parsers.pages import parse_container
from pipelines.platform.parsers.search import MAX_DOCUMENTS, read_stream
from pipelines.scan.rules.search import song_names
from tests.platform.shape_answers import parse_as, read_index
from warehouse.records.errors import SametrackError, StructureChangedError

pytestmark = pytest.mark.full

SHAPES = {shape.parser: shape for shape in read_index()}
KINDS = ("work_page", "user_info", "search_stream", "chart_songs", "chart_html")
"""One parser of each way to read a body; `make fuzz-hostile` has every parser with every body."""
BODIES = DOCUMENTS | PAGES
CASES = [*zip(BODIES, cycle(KINDS), strict=False)]


@pytest.mark.parametrize(("name", "parser"), CASES)
def test_a_hostile_body_ends_as_a_named_error(name: str, parser: str) -> None:
    with pytest.raises(SametrackError):
        parse_as(SHAPES[parser], BODIES[name]()[: 4 * 1024 * 1024], SEEN)


def test_a_body_with_more_values_than_a_list_of_videos_is_not_decoded() -> None:
    body = b'{"a":[' + b"0," * MAX_VALUES + b"0]}"
    with pytest.raises(StructureChangedError, match=str(MAX_VALUES)) as found:
        parse_json(body, surface="user_info")
    assert found.value.reason == "too_many_values"


def test_a_body_with_as_many_values_is_decoded() -> None:
    body = b'{"a":[' + b"0," * (MAX_VALUES - 2) + b"0]}"
    assert len(parse_json(body, surface="user_info").items("a")) == MAX_VALUES - 1


def test_a_text_of_megabytes_is_no_text() -> None:
    with pytest.raises(StructureChangedError, match="desc"):
        JsonNode({"desc": "a" * 1_000_000}, "user_info", "$").text("desc")


def test_a_stream_has_a_most_of_documents() -> None:
    body = b'{"status_code":0}' * MAX_DOCUMENTS
    assert len(read_stream(body, surface="search_stream").documents) == MAX_DOCUMENTS
    with pytest.raises(StructureChangedError):
        read_stream(body + b"{}", surface="search_stream")


@pytest.mark.parametrize(
    "page",
    [
        b'<script>window._ROUTER_DATA = {"a":1}</script>',
        b'<SCRIPT type="x">window._ROUTER_DATA = {"a":1};</SCRIPT >',
        (
            b'<!-- <script>window._ROUTER_DATA = {"a":2}</script> --><script>_ROUTER_DATA={"a":1}'
            b"</script>"
        ),
        (
            b'<scripts></scripts><script>var a = "<script>";</script><script\n>'
            b'window._ROUTER_DATA={"a":1}</script>'
        ),
        b"<script id='RENDER_DATA' type='application/json'>%7B%22a%22%3A1%7D</script>",
    ],
)
def test_the_container_of_a_page_is_found(page: bytes) -> None:
    assert parse_container(b"<html>" + page, surface="work_page").values == {"a": 1}


@pytest.mark.parametrize(
    "page",
    [
        b'<script>window._ROUTER_DATA = {"a":1}',
        b'<!-- <script>window._ROUTER_DATA = {"a":1}</script>',
        b'<meta content="<script>window._ROUTER_DATA = {}</script>',
        b'<meta content="<script>window._ROUTER_DATA = {}</script>">',
        b"<title><script>window._ROUTER_DATA = {}</script></title>",
    ],
)
def test_scripts_in_comments_and_attributes_are_not_found(page: bytes) -> None:
    assert list(find_scripts(page)) == []


@pytest.mark.parametrize(
    ("page", "title"),
    [
        (b"<title>a &amp; b</title>", "a & b"),
        (b'<html><TITLE lang="zh">\xe9\xaa\x8c\xe8\xaf\x81</TITLE>', "验证"),
        (b"<titles>no</titles>", None),
        (b'<meta content="<title>no</title>"><title>a</title>', "a"),
        (b"<title></title>", ""),
        (b"", None),
    ],
)
def test_the_title_of_a_page_is_found(page: bytes, title: str | None) -> None:
    assert find_title(page) == title


@pytest.mark.parametrize("part", [b' rel="', b"src=", b"<script src", b" a"])
def test_megabytes_of_attributes_hold_no_script(part: bytes) -> None:
    assert list(find_scripts(b"<script " + part * 1_000_000 + b">")) == []


def test_agents_of_others_share_one_set_of_rules() -> None:
    text = "".join(f"User-agent: bot{number}\n" for number in range(2000)) + "Disallow: /a\n" * 2000
    rules = parse_robots(text + "User-agent: *\nDisallow: /private\n")
    assert len(rules._user_agents) == 2
    assert not rules.can_fetch("http://a.b/private", AGENT)
    assert rules.can_fetch("http://a.b/a", AGENT)


@pytest.mark.parametrize(
    "name", ["Sametrack", "sametrack", "SAMETRACK # us", "Same*", "*", "sametrack*"]
)
def test_rules_for_us_stay_ours(name: str) -> None:
    rules = parse_robots(f"User-agent: other\nAllow: /\n\nUser-agent: {name}\nDisallow: /a\n")
    assert not rules.can_fetch("http://a.b/a", AGENT)


@pytest.mark.parametrize("text", ["(" * 100_000, "（原声中的歌曲：" * 50_000, "[" * 100_000 + "]"])
def test_a_title_of_megabytes_names_no_song(text: str) -> None:
    assert song_names(text) == ()


@pytest.mark.parametrize("make", [DOCUMENTS["a long key over many objects"]])
def test_a_long_key_is_not_repeated_in_the_paths_below_it(make: Callable[[], bytes]) -> None:
    page = b"<script>window._ROUTER_DATA = " + make() + b"</script>"
    with pytest.raises(SametrackError) as found:
        parse_as(SHAPES["work_page"], page, SEEN)
    assert len(str(found.value)) < 1_000
