"""Hashtags and the guest search, walked as a guest walks them."""

import pytest

from sandbox.server.documents.pages import read_frames, to_frames
from sandbox.server.surfaces.search import SEARCH_DEPTH, demands_verification_first

from .conftest import Json, Sandbox

pytestmark = pytest.mark.full

WEB = "www.vidplat.localhost"
SEARCH = "/aweme/v1/web/general/search"


def _asked(sandbox: Sandbox, path: str, **query: str | int) -> Json | list[Json]:
    answer = sandbox.client.get(path, params=query, headers={"host": WEB})
    framed = path.endswith("/stream/")
    found: Json | list[Json] = read_frames(answer.content) if framed else answer.json()
    return found


def _first(sandbox: Sandbox, term: str, count: int = 10) -> list[Json]:
    found = _asked(sandbox, f"{SEARCH}/stream/", keyword=term, offset=0, count=count)
    assert isinstance(found, list)
    return found


def _later(sandbox: Sandbox, term: str, **query: str | int) -> Json:
    found = _asked(sandbox, f"{SEARCH}/single/", keyword=term, **query)
    assert isinstance(found, dict)
    return found


def _works(document: Json) -> list[str]:
    """Ids of the works among the items; of a collection the first one counts."""
    listed = []
    for item in document["data"]:
        mix = item.get("aweme_mix_info")
        work = mix["mix_items"][0] if mix else item.get("aweme_info")
        listed += [work["aweme_id"]] if work else []
    return listed


def _titles(sandbox: Sandbox) -> list[str]:
    return [sandbox.world.title_of(track.score) for track in sandbox.world.tracks]


def _ranked(sandbox: Sandbox, term: str) -> list[str]:
    found: list[str] = sandbox.control_data("search", term=term)["aweme_ids"]
    return found


@pytest.fixture
def term(sandbox: Sandbox) -> str:
    """A term with several pages whose first document is healthy."""
    return next(
        title for title in _titles(sandbox)
        if len(_ranked(sandbox, title)) > 25 and not demands_verification_first(title)
    )  # fmt: skip


def test_a_search_is_walked_to_its_end_by_what_each_page_says(sandbox: Sandbox, term: str) -> None:
    documents = _first(sandbox, term)
    found = [work for document in documents for work in _works(document)]
    last = documents[-1]
    while last["has_more"]:
        place = {"offset": last["cursor"], "search_id": last["extra"]["logid"]}
        last = _later(sandbox, term, **place, backtrace=last["backtrace"])
        assert last["log_pb"]["impr_id"] == last["extra"]["logid"]
        found += _works(last)
    assert found == _ranked(sandbox, term)
    assert len(found) == len(set(found)) <= SEARCH_DEPTH


def test_the_first_screen_has_cards_that_are_no_works(sandbox: Sandbox, term: str) -> None:
    items = [item for document in _first(sandbox, term) for item in document["data"]]
    kinds = [item.get("type") for item in items]
    assert {1, 4, 6} <= set(kinds)
    assert len(items) == 12
    everything = _later(sandbox, "美食", offset=0, count=15)["data"]
    for offset in (15, 30, 45, 60):
        place = {"offset": offset, "search_id": _later(sandbox, "美食")["extra"]["logid"]}
        everything += _later(sandbox, "美食", **place, count=15)["data"]
    assert any("aweme_mix_info" in item for item in everything)


def test_sandbox_search_page_without_its_search_id_is_empty(sandbox: Sandbox, term: str) -> None:
    last = _first(sandbox, term)[-1]
    place = {"offset": last["cursor"], "search_id": last["extra"]["logid"]}
    without = _later(sandbox, term, offset=last["cursor"])
    foreign = _later(sandbox, term, offset=last["cursor"], search_id="2025100118000")
    other_trace = _later(sandbox, term, **place, backtrace="bt:0==")
    no_trace = _later(sandbox, term, **place)
    for refused in (without, foreign, other_trace):
        assert refused["data"] == []
        assert "search_nil_info" not in refused
    assert no_trace["data"]


def test_some_terms_ask_for_verification_first_and_then_answer(sandbox: Sandbox) -> None:
    term = next(filter(demands_verification_first, _titles(sandbox)))
    first, *rest = _first(sandbox, term)
    assert first["search_nil_info"]["search_nil_type"] == "verify_check"
    assert first["search_nil_info"]["is_load_more"] == "first_flush"
    assert (first["status_code"], first["data"]) == (0, [])
    assert any(_works(document) for document in rest)


def test_no_result_is_said_in_the_platforms_own_word(sandbox: Sandbox) -> None:
    nothing = _first(sandbox, "qqqqqq")[-1]
    assert nothing["data"] == []
    assert nothing["has_more"] == 0
    assert nothing["search_nil_info"]["search_nil_type"] == "no_result"


def test_a_hashtag_is_walked_to_its_end(sandbox: Sandbox) -> None:
    tags = sandbox.control_data("hashtags", limit=60)["hashtags"]
    tag = next(tag for tag in tags if tag["listed_count"] > 25 and not tag["repeats_cursor"])
    truth = sandbox.control_data(f"hashtags/{tag['ch_id']}")
    found, cursor, has_more = list[str](), 0, True
    while has_more:
        path = f"/web/api/v2/challenge/aweme/?ch_id={tag['ch_id']}&count=9&cursor={cursor}"
        page = sandbox.get(path).json()
        found += [item["aweme_id"] for item in page["aweme_list"]]
        cursor, has_more = page["cursor"], page["has_more"]
    assert found == truth["listed"] == truth["members"][: len(found)]
    assert len(truth["members"]) == truth["member_count"]


def test_some_hashtags_repeat_the_cursor_that_was_asked_for(sandbox: Sandbox) -> None:
    tags = sandbox.control_data("hashtags", limit=60)["hashtags"]
    tag = next(tag for tag in tags if tag["listed_count"] > 25 and tag["repeats_cursor"])
    path = f"/web/api/v2/challenge/aweme/?ch_id={tag['ch_id']}&count=9&cursor="
    pages = [sandbox.get(f"{path}{cursor}").json() for cursor in (0, 9)]
    assert [page["cursor"] for page in pages] == [0, 9]
    assert all(page["has_more"] is True for page in pages)
    assert pages[0]["aweme_list"] != pages[1]["aweme_list"]


def test_an_unknown_hashtag_has_a_status_code_and_no_works(sandbox: Sandbox) -> None:
    assert sandbox.get("/web/api/v2/challenge/info/?ch_id=7").json()["status_code"] == 5
    assert sandbox.get("/web/api/v2/challenge/aweme/?ch_id=7").json()["aweme_list"] == []


def test_frames_count_bytes_and_come_back_as_they_were() -> None:
    documents: list[dict[str, object]] = [{"a": "雾色\r\n"}, {}, {"b": [1, {"c": None}]}]
    assert read_frames(to_frames(documents)) == documents
