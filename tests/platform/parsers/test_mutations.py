"""Whatever a payload turns into, a parser gives records that fit the lake, or a named error."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.responses.errors import ERROR_SPECS
from benchmarks.fuzz.containers import to_body
from benchmarks.fuzz.holding import SEEN, outcome
from benchmarks.fuzz.mutating import Case, places, sources, to_case
from tests.platform.shape_answers import PARSERS, Shape, parse_as
from warehouse.records.errors import SametrackError
from warehouse.records.search import SearchPage

pytestmark = pytest.mark.full

SEED = 2
CASES_EACH = 100
REQUIRED: dict[str, tuple[set[str], ...]] = {
    "work_page": (
        {"aweme_id"}, {"create_time"}, {"statistics"}, {"author"}, {"music"}, {"sec_uid"},
        {"item_list", "aweme_details", "aweme_detail"},
        {"videoInfoRes", "slidesInfoRes", "noteDetailRes"},
    ),
    "detail_body": (
        {"aweme_id"}, {"create_time"}, {"statistics"}, {"author"}, {"music"}, {"sec_uid"},
        {"aweme_detail"},
    ),
    "slides_info": ({"aweme_id"}, {"create_time"}, {"statistics"}, {"author"}, {"aweme_details"}),
    "music_info": ({"music_info"}, {"title"}, {"mid", "id_str", "id"}),
    "music_list": ({"aweme_list"}, {"has_more"}, {"aweme_id"}),
    "trends_list": ({"aweme_list"}, {"has_more"}, {"aweme_id"}),
    "service_track": ({"loaderData"}, {"track_page"}, {"audioWithLyricsOption"}, {"trackName"}),
    "service_playlist": ({"loaderData"}, {"playlist_page"}, {"medias", "trackList"}),
    "service_album": ({"loaderData"}, {"album_page"}, {"medias", "trackList"}),
    "service_artist": ({"loaderData"}, {"artist_page"}, {"medias", "trackList"}),
    "hashtag_info": ({"ch_info"}, {"cid"}, {"cha_name"}),
    "hashtag_list": ({"aweme_list"}, {"has_more"}, {"aweme_id"}),
    "user_posts": ({"aweme_list"}, {"has_more"}, {"aweme_id"}),
    "user_page": ({"postListData"}, {"aweme_list", "awemeList", "items"}, {"has_more", "hasMore"}),
    "user_account": ({"userInfoRes"}, {"user_info"}, {"sec_uid", "lastPath"}),
    "user_info": ({"user_info"}, {"sec_uid", "uid", "short_id", "unique_id"}),
    "user_by_handle": ({"user_info"}, {"sec_uid"}, {"unique_id", "short_id"}),
    "search_stream": ({"data"}, {"has_more"}, {"cursor"}, {"aweme_id"}),
    "search_single": ({"data"}, {"aweme_id"}),
    "chart_issues": ({"data"}, {"info"}, {"vols"}, {"volid"}),
    "chart_songs": ({"data"}, {"info"}, {"songname", "filename"}),
    "chart_latest": ({"songs"}, {"list"}, {"songname", "filename"}),
    "chart_html": ({"features"}, {"FileName"}),
    "chart_html_old": ({"features"}, {"FileName"}),
}  # fmt: skip
"""What makes an answer, by parser: sets of names of which one at least must be there."""
MAY_BE_NULL = {"aweme_list", "data", "music", "title", "cha_name", "medias", "trackList"}
"""There, and said to be nothing: an empty page, a work without music, a track without a title."""
NAMED = set(ERROR_SPECS)
"""The words of all errors that the product names."""
GOOD = [
    (shape, document)
    for shape, document in sources()
    if shape.outcome == "records" and shape.row is None and document is not None
]
EVERY_PARSER = pytest.mark.parametrize("parser", sorted(PARSERS))


def lacking(parser: str) -> list[tuple[Shape, Any, set[str]]]:
    """Each shape of a parser with each set of names that it needs, as far as it has them."""
    return [
        (shape, document, names)
        for shape, document in GOOD
        for names in REQUIRED[parser]
        if shape.parser == parser and any(key in names for _, key in places(document))
    ]


def result_of(case: Case) -> str:
    """`records`, `unavailable` or the type of a named error; else what went wrong, and with what:
    the shape and its changes.
    """
    try:
        return outcome(case)
    except Exception as error:  # noqa: BLE001 - whatever it is, the test names it with its case
        return f"{case.shape.file}, {'; '.join(case.changes)} (case {case.number}): {error!r}"


@EVERY_PARSER
def test_mutated_shapes_give_true_records_or_a_named_error(parser: str) -> None:
    cases = [to_case(SEED, number, parser=parser) for number in range(CASES_EACH)]
    results = [result_of(case) for case in cases]
    assert [one for one in results if one not in {"records", "unavailable"} | NAMED] == []
    assert len(set(results)) > 1


@EVERY_PARSER
def test_unchanged_document_gives_its_records_again(parser: str) -> None:
    unchanged = [
        Case(0, shape, to_body(shape, document), document, ("unchanged",))
        for shape, document in GOOD
        if shape.parser == parser
    ]
    assert unchanged
    assert [one for one in map(result_of, unchanged) if one != "records"] == []


@EVERY_PARSER
def test_required_field_that_is_gone_is_a_named_error(parser: str) -> None:
    cases = [
        _to_case(shape, _without(document, names), f"without {sorted(names)}")
        for shape, document, names in lacking(parser)
    ]
    assert len(cases) >= len(REQUIRED[parser])
    assert not_refused(cases) == []


@EVERY_PARSER
def test_required_field_that_is_null_is_a_named_error(parser: str) -> None:
    cases = [
        _to_case(shape, _nulled(document, names), f"null in {sorted(names)}")
        for shape, document, names in lacking(parser)
        if not names & MAY_BE_NULL
    ]
    assert cases
    assert not_refused(cases) == []


@EVERY_PARSER
def test_field_that_may_be_nothing_is_read_as_nothing_or_a_named_error(parser: str) -> None:
    results = [
        result_of(_to_case(shape, _nulled(document, names), f"null in {sorted(names)}"))
        for shape, document, names in lacking(parser)
        if names & MAY_BE_NULL
    ]
    assert [one for one in results if one not in {"records", "unavailable"} | NAMED] == []


def not_refused(cases: list[Case]) -> list[str]:
    """The shape and the change of each case that did not end as a named error."""
    found = ((case, result_of(case)) for case in cases)
    return [f"{one.shape.file}, {one.changes}: {how}" for one, how in found if how not in NAMED]


def test_a_broken_case_is_named_with_shape_and_change(monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(_body: bytes, _asked: str, _seen: object) -> object:
        raise KeyError("author")

    monkeypatch.setitem(PARSERS, "music_list", parse)
    case = to_case(SEED, 0, parser="music_list")
    result = result_of(case)
    assert case.shape.file in result
    assert case.changes[0] in result
    assert "KeyError('author')" in result


def _to_case(shape: Shape, document: Any, change: str) -> Case:
    return Case(0, shape, to_body(shape, document), document, (change,))


@pytest.mark.parametrize("name", ["digg_count", "comment_count", "collect_count", "share_count"])
@pytest.mark.parametrize("parser", ["work_page", "detail_body", "slides_info"])
def test_count_that_is_gone_is_unknown_and_makes_the_counts_incomplete(
    parser: str, name: str
) -> None:
    shape, document = next(one for one in GOOD if one[0].parser == parser)
    detail: Any = parse_as(shape, to_body(shape, _without(document, {name})), SEEN)
    assert getattr(detail.statistics, name) is None
    assert not detail.statistics_complete


def _without(document: Any, names: set[str]) -> Any:
    changed = copy.deepcopy(document)
    for container, key in list(places({"": changed})):
        if key in names:
            del container[key]
    return changed


def _nulled(document: Any, names: set[str]) -> Any:
    changed = copy.deepcopy(document)
    for container, key in list(places({"": changed})):
        if key in names:
            container[key] = None
    return changed


@settings(max_examples=200, deadline=None)
@given(body=st.binary(max_size=300), parser=st.sampled_from(sorted(PARSERS)))
def test_any_bytes_give_a_named_error(body: bytes, parser: str) -> None:
    try:
        page = PARSERS[parser](body, "7568123456789012345", SEEN)
    except SametrackError:
        return
    # what begins as a stream and goes no further is one that broke off
    assert isinstance(page, SearchPage)
    assert (parser, page.is_cut, page.videos) == ("search_stream", True, ())


@pytest.mark.parametrize("depth", [200, 5000, 100_000])
@pytest.mark.parametrize(
    ("parser", "head", "tail"),
    [
        ("music_list", b'{"status_code":0,"has_more":0,"aweme_list":', b"}"),
        ("search_stream", b'f\r\n{"data":', b"}\r\n0\r\n"),
        ("chart_issues", b'{"status":1,"data":{"info":', b"}}"),
        ("chart_html", b"<script>global.features = ", b";</script>"),
        ("work_page", b'<script>window._ROUTER_DATA = {"a":', b"}</script>"),
    ],
)
def test_deep_nesting_is_a_named_error(parser: str, head: bytes, tail: bytes, depth: int) -> None:
    with pytest.raises(SametrackError):
        PARSERS[parser](head + b"[" * depth + b"]" * depth + tail, "x", SEEN)
