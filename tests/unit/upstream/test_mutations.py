"""Whatever a payload turns into, a parser gives records that fit the lake, or a named error."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.domain.errors import SametrackError
from tests.answers import PARSERS, Shape, parse_as
from tests.fuzz.containers import to_body
from tests.fuzz.holding import SEEN, outcome
from tests.fuzz.mutating import Case, places, sources, to_case

SEED = 2
CASES = 3_000
BATCHES = 10
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
    "hashtag_info": ({"ch_info"}, {"cid"}, {"cha_name"}),
    "hashtag_list": ({"aweme_list"}, {"has_more"}, {"aweme_id"}),
    "user_posts": ({"aweme_list"}, {"has_more"}, {"aweme_id"}),
    "user_page": ({"postListData"}, {"aweme_list", "awemeList", "items"}, {"has_more", "hasMore"}),
    "user_account": ({"userInfoRes"}, {"user_info"}, {"sec_uid", "lastPath"}),
    "user_info": ({"user_info"}, {"sec_uid"}),
    "search_stream": ({"data"}, {"has_more"}, {"cursor"}, {"aweme_id"}),
    "search_single": ({"data"}, {"aweme_id"}),
    "chart_issues": ({"data"}, {"info"}, {"vols"}, {"volid"}),
    "chart_songs": ({"data"}, {"info"}, {"songname", "filename"}),
    "chart_latest": ({"songs"}, {"list"}, {"songname", "filename"}),
    "chart_html": ({"features"}, {"FileName"}),
    "chart_html_old": ({"features"}, {"FileName"}),
}  # fmt: skip
"""What makes an answer, by parser: sets of names of which one at least must be there."""
MAY_BE_NULL = {"aweme_list", "data", "music", "title", "cha_name"}
"""There, and said to be nothing: an empty page, a work without music, a track without a title."""
GOOD = [
    (shape, document)
    for shape, document in sources()
    if shape.outcome == "records" and shape.row is None and document is not None
]
LACKING = [
    pytest.param(shape, document, names, id=f"{shape.file}-{min(names)}")
    for shape, document in GOOD
    for names in REQUIRED[shape.parser]
    if any(key in names for _, key in places(document))
]


@pytest.mark.parametrize("batch", range(BATCHES))
def test_mutated_shapes_give_true_records_or_a_named_error(batch: int) -> None:
    numbers = range(batch * CASES // BATCHES, (batch + 1) * CASES // BATCHES)
    kinds = [outcome(to_case(SEED, number)) for number in numbers]
    assert len(set(kinds)) > 3


@pytest.mark.parametrize(("good", "document"), GOOD, ids=[shape.file for shape, _ in GOOD])
def test_unchanged_document_gives_its_records_again(good: Shape, document: Any) -> None:
    assert outcome(Case(0, good, to_body(good, document), document, ())) == "records"


@pytest.mark.parametrize(("good", "document", "names"), LACKING)
def test_required_field_that_is_gone_is_a_named_error(
    good: Shape, document: Any, names: set[str]
) -> None:
    with pytest.raises(SametrackError):
        parse_as(good, to_body(good, _without(document, names)), SEEN)


@pytest.mark.parametrize(("good", "document", "names"), LACKING)
def test_required_field_that_is_null_is_a_named_error_or_said_to_be_nothing(
    good: Shape, document: Any, names: set[str]
) -> None:
    changed = _nulled(document, names)
    if names & MAY_BE_NULL:
        assert outcome(Case(0, good, to_body(good, changed), changed, ()))
        return
    with pytest.raises(SametrackError):
        parse_as(good, to_body(good, changed), SEEN)


@pytest.mark.parametrize("name", ["digg_count", "comment_count", "collect_count", "share_count"])
@pytest.mark.parametrize("parser", ["work_page", "detail_body", "slides_info"])
def test_count_that_is_gone_is_unknown_and_makes_the_counts_incomplete(
    parser: str, name: str
) -> None:
    shape, document = next(one for one in GOOD if one[0].parser == parser)
    detail: Any = parse_as(shape, to_body(shape, _without(document, {name})), SEEN)
    assert getattr(detail.video.statistics, name) is None
    assert not detail.video.statistics_complete


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
    with pytest.raises(SametrackError):
        PARSERS[parser](body, "7568123456789012345", SEEN)


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
