"""What is declared of scans with switches, and how a measured scan is compared with it."""

from dataclasses import replace
from typing import Any

import pytest

from benchmarks.truth.switches import cells, choose_rows
from sandbox.server.switches import MODES, SWITCHES, ActiveSwitches
from tests.switch_outcomes import (
    AS_WITHOUT,
    FURTHER_OUTCOMES,
    GENEROUS,
    OUTCOMES,
    MeasuredScan,
    SwitchOutcome,
    differences,
    forbidden_requests,
)

ROW = SwitchOutcome(
    switch="status_code_8",
    stops=(("user_posts", "upstream_login_required"),),
    at_most={"user_posts": 1, "user_page": 0},
    candidates=(("not_comparable", "candidate_silent"),),
)
AS_DECLARED = MeasuredScan(
    status="completed",
    stops=frozenset({("user_posts", "upstream_login_required"), ("music_list", "exhausted")}),
    decisions=(
        {"question": "posts", "surface": "user_posts", "tried": 1, "answered": 0,
         "left_closed": 8, "left_sick": 0, "left_held_back": 0},
    ),
    not_reached=2,
    requests={"user_posts": 1, "music_list": 2, "robots": 3},
    forbidden={},
    candidates=frozenset({("confirmed", None), ("not_comparable", "candidate_silent")}),
    confirmed=frozenset({"1", "2"}),
    seconds=12.3,
)  # fmt: skip


def challenge(surface: str, kind: str, host: str = "a", **after: int) -> dict[str, Any]:
    return {
        "host": host, "surface": surface, "kind": kind, "unix": 0.0,
        "surface_after": after.get(surface, 0), "host_after": after,
    }  # fmt: skip


def test_every_switch_has_one_row_of_its_own_and_every_row_can_be_turned_on() -> None:
    assert [row.name.partition("=")[0] for row in OUTCOMES] == [one.name for one in SWITCHES]
    for row in (*OUTCOMES, *FURTHER_OUTCOMES):
        ActiveSwitches((*MODES[row.mode], *filter(None, (row.switch,))))


def test_a_scan_as_declared_does_not_differ() -> None:
    assert differences(ROW, AS_DECLARED, without=AS_DECLARED) == []


@pytest.mark.parametrize(
    ("changed", "reported"),
    [
        ({"status": "failed"}, "status failed"),
        ({"stops": frozenset()}, "not stopped: user_posts upstream_login_required"),
        (
            {"stops": AS_DECLARED.stops | {("search", "upstream_structure_changed")}},
            "stopped: search upstream_structure_changed",
        ),
        ({"requests": {"user_posts": 2}}, "user_posts 2 > 1"),
        ({"requests": {"user_page": 1}}, "user_page 1 > 0"),
        ({"forbidden": {"user_posts": 3}}, "forbidden: user_posts 3"),
        ({"candidates": frozenset()}, "no candidate not_comparable/candidate_silent"),
        ({"confirmed": frozenset({"1", "3", "4"})}, "confirmed: 1 lost, 2 more"),
    ],
)
def test_each_difference_is_named(changed: dict[str, Any], reported: str) -> None:
    assert differences(ROW, replace(AS_DECLARED, **changed), without=AS_DECLARED) == [reported]


def test_confirmed_videos_are_compared_only_where_they_must_be_the_same() -> None:
    other = replace(AS_DECLARED, confirmed=frozenset())
    assert differences(replace(ROW, is_same=False), other, without=AS_DECLARED) == []
    assert differences(ROW, other) == []


def test_a_challenge_forbids_its_surface_and_two_demands_forbid_the_host() -> None:
    one = challenge("user_posts", "captcha_json", user_posts=2, music_info=4)
    assert forbidden_requests([one]) == {"user_posts": 2}
    second = challenge("hashtag_list", "challenge", music_info=3)
    assert forbidden_requests([one, second]) == {"user_posts": 2, "music_info": 3}
    elsewhere = challenge("search_stream", "challenge", host="b", search_page=3)
    assert forbidden_requests([one, elsewhere]) == {"user_posts": 2}


@pytest.mark.parametrize("kind", ["403", "status_code_8", "login_2483"])
def test_a_403_and_a_login_forbid_no_host(kind: str) -> None:
    one = challenge("user_posts", kind, music_info=4)
    second = challenge("hashtag_list", "challenge", music_info=3)
    assert forbidden_requests([one, second]) == {}


def test_a_row_is_told_in_one_sentence() -> None:
    assert ROW.to_sentence() == (
        "`user_posts` ends as `upstream_login_required`; `user_posts` once; `user_page` is not "
        "asked; videos are `not_comparable`, `candidate_silent`"
    )
    assert GENEROUS.to_sentence() == AS_WITHOUT


def test_a_switch_chooses_its_rows_with_and_without_values() -> None:
    names = [row.name for row in choose_rows("captcha_json, list_bare")]
    assert names[:2] == ["list_bare", "captcha_json"]
    assert all(name.startswith("captcha_json=") for name in names[2:])
    assert [row.name for row in choose_rows("list_foreign_rows=1")] == ["list_foreign_rows=1"]
    assert choose_rows("no_such_switch") == []
    assert choose_rows("") == [*OUTCOMES, *FURTHER_OUTCOMES]


def test_a_measured_row_shows_stops_gaps_and_requests() -> None:
    assert cells(ROW, AS_DECLARED) == (
        "status_code_8",
        "completed, 2 confirmed",
        "user_posts upstream_login_required",
        "2 not reached, posts: user_posts 0 of 1, closed 8",
        "music_list 2, user_posts 1",
        "0",
        "12",
    )
