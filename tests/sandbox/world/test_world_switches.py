"""The switches of the sandbox: their values, and what guests can reach where they are on."""

import asyncio
import re
from pathlib import Path

import httpx2 as httpx
import pytest

from sandbox.server.app import SandboxOptions, create_sandbox
from sandbox.server.switches import MODES, SWITCHES, ActiveSwitches, switches_of
from sandbox.world.ground_truth import GroundTruth
from sandbox.world.guest_view import GuestView
from sandbox.world.world import MUSIC_LIST_DEPTH, SandboxWorld

pytestmark = pytest.mark.full

WORLD = SandboxWorld(31, 0.2)


def test_a_switch_is_off_until_it_is_turned_on_and_after_it_was_turned_off() -> None:
    switches = ActiveSwitches(["page_shells=0.5", "search_2483"])
    switches.set("search_2483=off")
    assert switches.share("page_shells") == 0.5
    assert switches.state_of("search_stream") is None
    assert not switches.is_on("list_bare")


def test_a_switch_puts_the_named_surfaces_into_its_state() -> None:
    switches = ActiveSwitches(["captcha_json=music_list+music_info"])
    kinds = {name: switches.state_of(name) for name in ("music_list", "music_info", "hashtag_list")}
    assert {name: fault and fault.kind for name, fault in kinds.items()} == {
        "music_list": "captcha_json", "music_info": "captcha_json", "hashtag_list": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "no_such_switch",
        "empty_pages=0",
        "empty_pages=9",
        "page_shells=2",
        "page_shells=many",
        "list_bare=video_page",
    ],
)
def test_an_unknown_switch_or_value_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        ActiveSwitches([text])


def test_a_mode_turns_on_its_switches_and_further_ones_can_be_added() -> None:
    assert switches_of("generous", ("chart_1002",)) == ("chart_1002",)
    assert switches_of("autumn-2026", ("chart_1002",))[-1] == "chart_1002"
    assert set(MODES["autumn-2026"]) <= {switch.name for switch in SWITCHES}
    with pytest.raises(ValueError, match="generous, autumn-2026"):
        switches_of("spring-1999")


def test_every_switch_has_one_effect_and_a_sentence() -> None:
    assert len({switch.name for switch in SWITCHES}) == len(SWITCHES)
    for switch in SWITCHES:
        assert switch.effect.endswith(".")
        assert switch.kind is None or switch.form is None
        assert bool(switch.surfaces) == bool(switch.kind or switch.form)


def test_one_music_list_of_seven_has_foreign_rows_and_few_of_its_own() -> None:
    view = GuestView(world=WORLD, foreign_share=1 / 7)
    sounds = range(len(WORLD.sounds))
    foreign = [index for index in sounds if view.has_foreign_rows(index)]
    assert 0.07 < len(foreign) / len(WORLD.sounds) < 0.22
    for index in foreign:
        rows = view.music_list(index)
        own = set(WORLD.music_list(index).tolist())
        assert rows.tolist() == view.music_list(index).tolist()
        assert len(rows) in (0, MUSIC_LIST_DEPTH)
        assert len(own & set(rows.tolist())) == min(3, len(own))


def test_without_screens_of_authors_the_hashtag_of_the_title_leads_to_other_music_ids() -> None:
    generous = [GroundTruth(WORLD, track.music_id) for track in WORLD.tracks]
    view = GuestView(world=WORLD, has_author_screens=False)
    strict = [GroundTruth(WORLD, track.music_id, view=view) for track in WORLD.tracks]
    assert sum(len(truth.reachable()) for truth in strict) < sum(
        len(truth.reachable()) for truth in generous
    )
    assert not any(work.in_author_screen for truth in strict for work in truth.works())
    others = {
        work.round for truth in strict for work in truth.works()
        if work.is_wanted and work.music_id != truth.asked.music_id
    }  # fmt: skip
    assert {None, 1} <= others


def test_a_list_of_foreign_rows_hides_videos_from_the_ground_truth() -> None:
    view = GuestView(world=WORLD, foreign_share=1.0)
    track = max(WORLD.tracks, key=lambda sound: WORLD.music_list(sound.index).size)
    truth = GroundTruth(WORLD, track.music_id, view=view)
    own = WORLD.works.sound == track.index
    first = [row for row, step in truth.rounds.items() if step == 0 and own[row]]
    assert 0 < len(first) <= 3 < WORLD.music_list(track.index).size


def test_the_sandbox_of_today_answers_in_process(tmp_path: Path) -> None:
    options = SandboxOptions(
        seed=31, size=0.2, cache_dir=tmp_path, switches=switches_of("autumn-2026")
    )
    track = WORLD.tracks[0].music_id

    async def read() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app=create_sandbox(options))
        async with httpx.AsyncClient(
            transport=transport, base_url="http://share.vidplat.localhost"
        ) as client:
            listed = await client.get(f"/web/api/v2/music/list/aweme/?music_id={track}")
            aweme_id = listed.json()["aweme_list"][0]["aweme_id"]
            return [
                listed, await client.get(f"/share/video/{aweme_id}/"),
                await client.get(f"/web/api/v2/aweme/slidesinfo/?aweme_ids=[{aweme_id}]"),
            ]  # fmt: skip

    listed, page, details = asyncio.run(read())
    assert "author" not in listed.json()["aweme_list"][0]
    assert "videoInfoRes" not in page.text
    assert re.search("v3.cdnplat.localhost", details.text)
    assert details.json()["aweme_details"][0]["statistics"]["collect_count"] >= 0
