"""Desktop pages: streams in any split, references, several videos, bodies that would explode."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest

from pipelines.platform.parsers.fields import JsonNode
from pipelines.platform.parsers.pages import parse_container, parse_video_page, shows_video
from pipelines.platform.parsers.videos import ParseContext, read_mapped_song
from warehouse.records.errors import (
    LoginRequiredError,
    PageWithoutDataError,
    SignatureDemandedError,
    StructureChangedError,
    SubstitutionError,
    VerificationDemandedError,
)
from warehouse.records.videos import Unavailability, Video

ID, OTHER = "7600000000000000011", "7600000000000000012"
SEEN = ParseContext(
    surface="web_video_page", observed_at=datetime(2026, 11, 20, tzinfo=UTC), link_of=str,
    address="http://www.vidplat.localhost/video/1",
)  # fmt: skip


def detail(aweme_id: str = ID, **fields: object) -> dict[str, object]:
    return {
        "awemeId": aweme_id, "desc": "text", "createTime": 1_649_210_596,
        "authorInfo": {"secUid": "MS4wLjABAAAAexample", "uid": "1"},
        "stats": {"diggCount": 4, "commentCount": 3, "collectCount": 2, "shareCount": 1},
        "music": {"id": 7_083_000_000_000_651_000, "title": "t"},
        "video": {"playAddr": [{"src": "//play.vidplat.localhost/a"}], "duration": 1000},
        **fields,
    }  # fmt: skip


def rendered(container: object) -> bytes:
    text = quote(json.dumps(container))
    return f'<html><script id="RENDER_DATA">{text}</script></html>'.encode()


def streamed(*chunks: str) -> bytes:
    scripts = (f"<script>self.__pace_f.push({json.dumps([1, chunk])})</script>" for chunk in chunks)
    return f"<html>{''.join(scripts)}</html>".encode()


def row(name: str, props: Mapping[str, object]) -> str:
    return f"{name}:{json.dumps(['$', '$L9', None, props], ensure_ascii=False)}\n"


def read(body: bytes) -> Any:
    return parse_video_page(body, ID, SEEN)


def test_an_address_without_a_scheme_has_that_of_its_page() -> None:
    assert read(rendered({"app": {"videoDetail": detail()}})).sound.urls == (
        "http://play.vidplat.localhost/a",
    )


def test_an_id_that_a_script_has_rounded_is_no_id() -> None:
    assert read(rendered({"app": {"videoDetail": detail()}})).music is None


def test_a_stream_is_read_wherever_it_is_split() -> None:
    text = "文字 $ 🤔"
    size = len(text.encode())
    stream = f"a:T{size:x},{text}" + row("7", {"aweme": {"detail": detail(desc="$a")}})
    for cut in range(len(stream)):
        found = read(streamed(stream[:cut], stream[cut:]))
        assert isinstance(found, Video)
        assert found.desc == text


@pytest.mark.parametrize(
    ("desc", "expected"),
    [("$$5", "$5"), ("$undefined", None), ("$ff", None), ("$8", "in a row"), ("5 $a", "5 $a")],
)
def test_a_reference_of_a_stream_is_resolved_or_unknown(desc: str, expected: str | None) -> None:
    stream = '8:"in a row"\n' + row("7", {"aweme": {"detail": detail(desc=desc)}})
    assert read(streamed(stream)).desc == expected


def test_a_dollar_sign_of_a_container_is_a_dollar_sign() -> None:
    assert read(rendered({"app": {"videoDetail": detail(desc="$5")}})).desc == "$5"


def test_an_object_in_a_row_of_its_own_is_found() -> None:
    stream = f"8:{json.dumps(detail())}\n" + row("7", {"aweme": {"detail": "$8"}})
    assert read(streamed(stream)).aweme_id == ID


def test_of_several_videos_the_requested_one_is_read() -> None:
    container = {
        "C_12": {"aweme": {"detail": detail(OTHER)}},
        "41": {"aweme": {"detail": detail()}},
    }
    assert read(rendered(container)).aweme_id == ID
    with pytest.raises(SubstitutionError):
        read(rendered({"C_12": container["C_12"]}))


def test_data_in_the_stream_counts_beside_a_container_without_it() -> None:
    page = rendered({"app": {}}) + streamed(row("7", {"aweme": {"detail": detail()}}))
    assert read(page).aweme_id == ID


def test_a_reason_in_camel_case_is_a_reason() -> None:
    aweme = {"statusCode": 0, "detail": None, "filterDetail": {"filterReason": "status_deleted"}}
    found = read(rendered({"41": {"aweme": aweme}}))
    assert isinstance(found, Unavailability)
    assert found.filter_reason == "status_deleted"


@pytest.mark.parametrize(
    "container", [{"app": {}}, {"app": {"videoDetail": None}}, {"1": {"aweme": {"detail": None}}}]
)
def test_a_page_without_the_video_is_a_shell(container: dict[str, object]) -> None:
    with pytest.raises(PageWithoutDataError):
        read(rendered(container))
    assert not shows_video(rendered(container))


@pytest.mark.parametrize(
    ("refused", "error"),
    [
        ({"statusCode": 8}, LoginRequiredError),
        ({"statusCode": 11110}, SignatureDemandedError),
        ({"statusCode": 10000, "verifyData": "{}"}, VerificationDemandedError),
        ({"statusCode": 10000, "verifyData": ""}, VerificationDemandedError),
        ({"statusCode": 77}, StructureChangedError),
    ],
)
@pytest.mark.parametrize("fields", [{}, {"detail": None}])
def test_a_refusal_of_a_route_is_named_beside_other_videos(
    refused: dict[str, object], fields: dict[str, object], error: type[Exception]
) -> None:
    route = {"aweme": {**fields, **refused}}
    for container in ({"41": route}, {"40": {"aweme": {"detail": detail(OTHER)}}, "41": route}):
        with pytest.raises(error):
            read(rendered(container))


@pytest.mark.parametrize(
    ("aweme", "reason"),
    [
        ({"statusCode": 2053}, "status_code 2053"),
        ({"detail": None, "statusCode": -404}, "status_code -404"),
        ({"filterDetail": {"awemeId": ID, "filterReason": "status_deleted"}}, "status_deleted"),
    ],
)
def test_a_reason_counts_before_another_video_of_the_page(
    aweme: dict[str, object], reason: str
) -> None:
    other = {"aweme": {"detail": detail(OTHER)}}
    for container in ({"4": other, "5": {"aweme": aweme}}, {"4": {"aweme": aweme}, "5": other}):
        found = read(rendered(container))
        assert isinstance(found, Unavailability)
        assert found.filter_reason == reason


def test_another_video_without_a_proper_id_does_not_hide_the_requested_one() -> None:
    page = rendered({"4": {"aweme": {"detail": detail("x")}}, "5": {"aweme": {"detail": detail()}}})
    assert read(page).aweme_id == ID


def test_a_character_may_be_split_over_two_scripts() -> None:
    stream = json.dumps(row("7", {"aweme": {"detail": detail(desc="a🤔b")}}))
    cut = stream.index(r"\udd14")
    first, second = f'{stream[:cut]}"', f'"{stream[cut:]}'
    page = "".join(f"<script>self.__pace_f.push([1,{part}])</script>" for part in (first, second))
    assert read(page.encode()).desc == "a🤔b"


def test_half_a_character_is_replaced_and_its_video_is_read() -> None:
    aweme = {"aweme": {"detail": detail(desc="a\ud83e")}}
    pushed = streamed(f"7:{json.dumps(aweme)}\n")
    for page in (pushed, rendered(aweme)):
        assert read(page).desc == "a\ufffd"


def test_addresses_without_a_scheme_are_completed_in_every_list() -> None:
    shown = detail(
        authorInfo={"secUid": "MS4wLjABAAAAexample", "avatarThumb": {"urlList": ["//p/a"]}},
        video={"playAddr": {"urlList": ["//p/b"]}, "cover": {"urlList": ["//p/c"]}},
    )
    found = read(rendered({"app": {"videoDetail": shown}}))
    assert found.author.avatar_url == "http://p/a"
    assert (found.sound.urls, found.cover_url) == (("http://p/b",), "http://p/c")


@pytest.mark.parametrize("pinned", [True, False])
def test_a_pin_is_read_from_the_tag_where_the_video_has_none(pinned: bool) -> None:
    shown = detail(isTop=None, tag={"isTop": pinned})
    assert read(rendered({"app": {"videoDetail": shown}})).is_top is pinned


def test_a_container_without_percent_signs_keeps_those_of_its_texts() -> None:
    text = json.dumps({"app": {"videoDetail": detail(desc="50%25 %22")}})
    page = f'<script id="RENDER_DATA">{text}</script>'.encode()
    assert read(page).desc == "50%25 %22"


@pytest.mark.parametrize("text", ["null", "{}"])
def test_an_empty_container_beside_the_data_is_passed_over(text: str) -> None:
    empty = f"<script>window._ROUTER_DATA = {text}</script>".encode()
    with pytest.raises(PageWithoutDataError):
        read(empty)
    assert read(empty + rendered({"app": {"videoDetail": detail()}})).aweme_id == ID


def test_keys_that_a_page_does_not_have_stay_unknown() -> None:
    video = read(rendered({"app": {"videoDetail": detail()}}))
    assert (video.is_top, video.cover_url, video.images_count) == (None, None, None)


def test_rows_that_name_each_other_again_and_again_are_refused() -> None:
    doubled = "".join(f'{n:x}:["${n + 1:x}","${n + 1:x}"]\n' for n in range(60))
    with pytest.raises(StructureChangedError):
        read(streamed(doubled + row("ff", {"aweme": {"detail": {"a": "$0"}}})))
    with pytest.raises(StructureChangedError):
        read(streamed('2:{"a":"$2"}\n' + row("ff", {"aweme": {"detail": "$2"}})))


def test_a_row_without_a_line_end_is_followed_by_the_next() -> None:
    rows = parse_container(streamed('0:{"a":1}1:T1,x2:[2]'), surface="page").node("rows")
    assert rows is not None
    assert rows.values == {"0": {"a": 1}, "1": "x", "2": [2]}


@pytest.mark.parametrize(
    ("fields", "song"),
    [
        ({"matched_pgc_sound": {"title": "A - B", "author": "C"}}, ("A - B", "C")),
        ({"mapped": "A - B - C", "matched_pgc_sound": {"title": "A - B"}}, ("A - B", "C")),
        ({"mapped": "A - B - C"}, ("A - B", "C")),
        ({"mapped": "晚风（歌手）"}, ("晚风", "歌手")),
        ({"mapped": "晚风（Live）（歌手）"}, ("晚风（Live）", "歌手")),
        ({"mapped": "晚风"}, ("晚风", None)),
        ({"mapped": "晚风-歌手"}, ("晚风-歌手", None)),
        ({"mapped": "晚风 - "}, ("晚风", None)),
        ({"mapped": " - 歌手"}, (None, None)),
        ({"mapped": " - "}, (None, None)),
        ({"mapped": "A - B", "matched_pgc_sound": {"title": " ", "author": " "}}, ("A", "B")),
        ({"mapped": "", "title": "原声（原声中的歌曲：A-B）"}, ("A", "B")),
        ({"matched_song": {"title": "A", "author": "B"}}, ("A", "B")),
    ],
)
def test_the_song_in_a_sound_is_named_apart(
    fields: dict[str, Any], song: tuple[str | None, str | None]
) -> None:
    extra = {"music_display_mapping_title": fields.pop("mapped", None)}
    assert read_mapped_song(JsonNode(fields, "music_info", "$"), extra) == song
