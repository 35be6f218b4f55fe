"""Asking the real stand-in platform: each way to say no gets its word, and what came is kept."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from pipelines.doctor.probes.probe_result import STABLE_AFTER
from pipelines.doctor.probes.table import PROBES
from pipelines.platform.profiles import CircuitTimes
from tests.deployment import LOCAL
from warehouse.control import hosts
from warehouse.queries.surface_health import (
    GOOD_RESPONSES_KEPT,
    read_known_ids,
    read_last_worked,
    read_latest_health,
    write_health,
)
from warehouse.records.health import SurfaceHealth

pytestmark = pytest.mark.full

type Told = tuple[str, str, str, int | None]
"""A fault, and what is told of it: outcome, type of error and HTTP status."""

ROUNDS: tuple[dict[str, Told], ...] = (
    {
        "music_info": ("403", "refused", "upstream_forbidden", 403),
        "video_page": ("shell", "refused", "upstream_page_without_data", 200),
        "media": ("403", "refused", "audio_unavailable", 403),
        "user_posts": ("reset", "unreachable", "upstream_unreachable", None),
        "hashtag_info": ("500", "unreachable", "upstream_unreachable", 500),
        "short_link": ("region", "refused", "upstream_region_blocked", 302),
        "chart_issues": ("text_body", "refused", "chart_unavailable", 200),
    },
    {
        "music_list": ("structure", "changed", "upstream_structure_changed", 200),
        "user_info": ("structure", "changed", "upstream_structure_changed", 200),
        "video_page": ("captcha", "refused", "upstream_verification", 200),
        "chart_songs": ("wrong_id", "refused", "chart_unavailable", 200),
    },
    {
        "music_list": ("empty", "refused", "upstream_empty", 200),
        "video_page": ("challenge", "refused", "upstream_verification", 200),
        "search_stream": ("login_2483", "refused", "upstream_login_required", 200),
    },
    {
        "slides_info": ("blocked", "refused", "upstream_empty", 200),
        "video_page": ("substitution", "refused", "upstream_substitution", 200),
        "search_stream": ("empty_ambiguous", "refused", "upstream_empty", 200),
    },
    {"search_stream": ("challenge", "refused", "upstream_verification", 200)},
    {
        "hashtag_list": ("429", "refused", "upstream_rate_limited", 429),
        "search_stream": ("verify_check", "refused", "upstream_verification", 200),
    },
)
"""Faults of one round of questions; no two of them concern a host as a whole."""


async def test_every_surface_of_a_healthy_platform_works(stores: Any) -> None:
    LOCAL.delete(f"{stores.world}/access-log/summary").raise_for_status()
    found = await stores.ask()
    assert {name: health.outcome for name, health in found.items()} == {
        probe.surface: "works" for probe in PROBES
    }
    asked = LOCAL.get(f"{stores.world}/access-log/summary").json()["surfaces"]
    # a page that is withheld is asked for once more, and a sound lies behind a redirect
    asked["user_by_handle"] = asked["user_info"]  # the same path, for both
    assert all(asked[name] <= 3 for name in found if name != "media")
    assert asked["media"] <= 3


@pytest.mark.parametrize("faults", ROUNDS, ids="+".join)
async def test_each_fault_gets_its_word(stores: Any, faults: dict[str, Told]) -> None:
    for surface, (kind, *_) in faults.items():
        stores.fault(surface, kind, retry_after=0)
    # a sound's address is learnt from a work
    found = await stores.ask(*dict.fromkeys((*faults, "slides_info")))
    reported = {
        name: (kind, found[name].outcome, found[name].error_type, found[name].http_status)
        for name, (kind, *_) in faults.items()
    }
    assert reported == faults


async def test_a_changed_shape_lists_the_keys_that_came_and_went(stores: Any) -> None:
    await stores.ask("music_list")
    stores.fault("music_list", "structure")
    found = (await stores.ask("music_list"))["music_list"]
    assert found.outcome == "changed"
    assert {"awemes", "more"} <= set(found.came)
    assert {"aweme_list", "has_more"} <= set(found.went)


async def test_stable_keys_that_go_are_a_change_even_where_the_parser_does_not_mind(
    stores: Any,
) -> None:
    good = (await stores.ask("slides_info", "hashtag_info"))["hashtag_info"]  # which a work names
    _store_good_responses(stores, replace(good, key_paths=(*good.key_paths, "zz_more")))
    for _ in range(STABLE_AFTER):
        found = (await stores.ask("hashtag_info"))["hashtag_info"]
        assert (found.outcome, found.reason, found.went) == ("changed", "keys_went", ("zz_more",))
    later = [(await stores.ask("hashtag_info"))["hashtag_info"].outcome for _ in range(2)]
    assert later == ["works", "works"], "the new shape has come often enough"
    _store_good_responses(stores, good)  # the warehouse is shared with the tests after this one


def _store_good_responses(stores: Any, health: SurfaceHealth) -> None:
    for _ in range(GOOD_RESPONSES_KEPT):
        write_health(stores.engine.lake, [replace(health, observed_at=datetime.now(UTC))])
    stores.engine.refresh()


async def test_one_withheld_work_does_not_condemn_its_surface(stores: Any) -> None:
    first = (await stores.ask("video_page"))["video_page"]
    stores.fault("video_page", "shell", entity=first.entity_id)
    found = (await stores.ask("music_list", "video_page"))["video_page"]
    assert found.outcome == "works"
    assert found.entity_id != first.entity_id


async def test_probe_outcomes_are_stored_with_the_last_time_a_surface_worked(
    stores: Any,
) -> None:
    good = (await stores.ask("music_info"))["music_info"]
    stores.fault("music_info", "403")
    bad = (await stores.ask("music_info"))["music_info"]
    engine = stores.engine
    assert read_latest_health(engine)["music_info"] == bad
    assert read_last_worked(engine)["music_info"] == good.observed_at


async def test_probes_leave_no_observation_and_teach_what_to_ask_about(stores: Any) -> None:
    await stores.ask("music_info", "music_list", "video_page", "user_info")
    engine = stores.engine
    counted = engine.rows(
        "select (select count(*) from raw.captures) + (select count(*) from raw.videos) as n"
    )
    assert counted[0]["n"] == 0
    known = read_known_ids(engine)
    assert known["music_id"]
    assert known["sec_uid"]


async def test_a_body_that_came_is_kept_once(stores: Any) -> None:
    first = (await stores.ask("music_info"))["music_info"]
    again = (await stores.ask("music_info"))["music_info"]
    assert first.payload_sha256 == again.payload_sha256
    stored = stores.engine.rows(
        "select count(*) as n from raw.payloads where sha256 = $hash",
        {"hash": first.payload_sha256},
    )
    assert stored[0]["n"] == 1


async def test_a_surface_that_is_left_alone_is_told_so_and_not_asked(stores: Any) -> None:
    stores.fault("user_info", "403")
    long = CircuitTimes(open_s=3600, longest_s=3600)
    # an account is learnt from a work
    first = (await stores.ask("slides_info", "user_info", circuit=long))["user_info"]
    assert (first.outcome, first.http_status) == ("refused", 403)
    reported = (await stores.ask("slides_info", "user_info", circuit=long))["user_info"]
    assert (reported.outcome, reported.reason, reported.request_count) == (
        "not_asked",
        "circuit_open",
        0,
    )
    assert reported.rests_until is not None
    assert not reported.is_broken
    (circuit,) = [one for one in hosts.read_circuits(stores.control) if one.surface == "user_info"]
    assert circuit.cause == "upstream_forbidden"


async def test_robots_decisions_are_recorded_per_host(stores: Any) -> None:
    await stores.ask("music_info", "chart_issues")
    decided = {
        (one.host, one.surface): one.decision for one in hosts.robots_decisions(stores.control)
    }
    assert decided[("share.vidplat.localhost", "music_info")] == "allowed"
    assert ("chart.chartsrc.localhost", "chart_issues") in decided


async def test_a_circuit_that_opens_meanwhile_does_not_hide_what_was_said(stores: Any) -> None:
    stores.fault("video_page", "shell")
    reported = [(await stores.ask("music_list", "video_page"))["video_page"] for _ in range(2)]
    assert all(one.request_count > 0 for one in reported)
    assert all(one.reason != "circuit_open" for one in reported)
