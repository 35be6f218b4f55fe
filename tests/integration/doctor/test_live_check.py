"""The live check against the running stand-in platform, and the patch that it proposes."""

import asyncio
import json
import socket
import subprocess
import sys
from contextlib import aclosing, closing
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from pipelines.doctor.live_check.round import REQUEST_LIMIT
from pipelines.doctor.live_check.run import (
    PATCH,
    REPORT,
)
from pipelines.platform.profiles import load_profile
from pipelines.platform.providers import build_data_provider, choose_profile
from tests.children import bare_environment
from tests.integration.doctor.live_platform import PATIENCE_S, LivePlatform, outcomes
from tests.stage import LOCAL, open_stage
from warehouse.control import open_control
from warehouse.home.folder import open_home
from warehouse.queries.results import read_candidates, read_result_document
from warehouse.records.errors import SametrackError
from warehouse.records.videos import VideoDetail

ROOT = Path(__file__).parents[3]
SANDBOX = (Path(load_profile.__code__.co_filename).parent / "sandbox.toml").read_text("utf-8")
BY_SOUND = ("audio_fingerprint_match", "verified_music_id_graph")
OTHER_HOSTS = ('"v3.cdnplat.localhost"', '"scripts.cdnplat.localhost"')


@pytest.fixture
def lacking(tmp_path: Path) -> Path:
    """The sandbox's profile without the hosts of its delivery network."""
    text = SANDBOX
    for host in OTHER_HOSTS:
        assert host in text
        text = text.replace(f", {host}", "").replace(host, "")
    path = tmp_path / "lacking.toml"
    path.write_text(text, "utf-8")
    return path


def test_a_generous_platform_is_asked_once_per_surface_and_needs_no_patch(
    live: LivePlatform,
) -> None:
    result = live.check("generous")
    assert set(outcomes(result.report).values()) == {"works"}
    assert (result.verdict.exit_code, result.patch.is_empty) == (0, True)
    asked = live.requests()
    assert len(asked) == result.report["requests"] <= REQUEST_LIMIT
    by_surface = [one["surface"] for one in asked if one["surface"] not in {"robots", "media"}]
    assert by_surface.count("user_info") == 2  # by id, and by handle
    assert len(by_surface) == len(set(by_surface)) + 1
    assert abs(result.report["clock_skew_s"]) < 60
    assert result.report["media"]["kind"] == ".mp4"
    assert {one["decision"] for one in result.report["robots"]} == {"allowed"}


def test_what_autumn_withholds_is_named_and_a_login_is_switched_off(live: LivePlatform) -> None:
    live.switch(mode="autumn-2026")
    result = live.check("autumn")
    found = outcomes(result.report)
    for surface in ("music_info", "music_list", "slides_info", "media", "hashtag_list"):
        assert found[surface] == "works"
    assert found["search_stream"] == "refused"
    assert result.verdict.exit_code == 3
    fields = {one["surface"]: one["fields"] for one in result.report["surfaces"]}
    assert fields["music_list"]["create_time"][0] == 0
    assert list(result.patch.additions["off"]) == ["search_stream", "search_single"]
    live.switch(mode="autumn-2026")
    again = live.check("again", profile_patch=live.place / "autumn" / PATCH)
    assert outcomes(again.report)["search_stream"] == "not_asked"
    assert not any(one["surface"].startswith("search") for one in live.requests())


def test_the_new_sources_are_looked_at_where_much_is_withheld(live: LivePlatform) -> None:
    """Trend, song and handle are what a guest can still read."""
    live.switch(mode="autumn-2026")
    result = live.check("sources")
    found = outcomes(result.report)
    for surface in ("trends_list", "service_track", "user_by_handle"):
        assert found[surface] == "works", surface
    fields = {one["surface"]: one["fields"] for one in result.report["surfaces"]}
    assert fields["trends_list"]["create_time"][0] > 0
    assert fields["service_track"]["title"] == [1, 1]
    assert fields["user_by_handle"]["sec_uid"] == [1, 1]
    text = (live.place / "sources" / REPORT).read_text("utf-8")
    assert all(f"| {surface} | works" in text for surface in ("trends_list", "service_track"))


async def read_sound(live: LivePlatform, name: str, **values: Any) -> str:
    """What becomes of the sound of a video: its suffix, or the type of the error."""
    settings = live.settings(data_home=live.place / name, **values)
    profile = choose_profile(settings)
    home = open_home(settings.data_home, profile.name)
    track = LOCAL.get(f"{live.world}/tracks?limit=1&counts=0").json()["tracks"][0]
    with closing(open_control(home.control_url, world=home.world)) as control:
        async with aclosing(build_data_provider(settings, profile, control=control)) as provider:
            detail = (await provider.fetch_video(track["aweme_id"])).value
            assert isinstance(detail, VideoDetail)
            try:
                return (await provider.download_sound(detail, live.place)).path.suffix
            except SametrackError as error:
                return error.type


async def test_a_read_that_failed_succeeds_with_the_proposed_patch(
    live: LivePlatform, lacking: Path
) -> None:
    live.switch("media_other_host")
    given: dict[str, Any] = {"profile": str(lacking)}
    assert await read_sound(live, "before", **given) == "upstream_substitution"
    result = await asyncio.to_thread(live.check, "lacking", **given)
    assert [rule for rule in result.patch.additions["media"] if "cdnplat" in rule]
    patch = live.place / "lacking" / PATCH
    assert await read_sound(live, "after", profile_patch=patch, **given) == ".mp4"
    again = await asyncio.to_thread(live.check, "patched", profile_patch=patch, **given)
    assert (outcomes(again.report)["media"], again.patch.additions["media"]) == ("works", {})


@dataclass(frozen=True)
class ScanResult:
    """A completed scan: its result document, and the outcome and reason of every candidate."""

    document: dict[str, Any]
    candidates: frozenset[tuple[str, str | None]]

    @property
    def stops(self) -> dict[str, str]:
        sources = self.document["coverage"]["sources"]
        return {one["surface"]: one["stop_reason"] for one in sources}

    def count(self, *links: str) -> int:
        return sum(video["link_type"] in links for video in self.document["ranked"])


def track_with_reuploads(live: LivePlatform) -> str:
    """The music id of the track that most videos use under other music ids a guest can reach."""
    found = {}
    for track in LOCAL.get(f"{live.world}/tracks?counts=0").json()["tracks"]:
        own = track["music_id"]
        works = LOCAL.get(f"{live.world}/truth/{own}").json()["works"]
        found[own] = sum(
            work["carries_recording"] and work["is_public"]
            and work["round"] is not None and work["music_id"] != own
            for work in works
        )  # fmt: skip
    count, best = max((count, str(music_id)) for music_id, count in found.items())
    assert count > 0
    return best


def scan(live: LivePlatform, music_id: str, name: str, sounds: Path, **settings: str) -> ScanResult:
    """A whole scan by a worker with these settings, in a home of its own."""
    root = live.place / name
    root.mkdir()
    with open_stage(root, sounds) as stage:
        stage.port = live.port
        stage.settings.update(settings)
        stage.start_worker()
        asked = {"candidate_limit": 40, "search_enabled": False, "account_profile_limit": 1}
        job = stage.ended(stage.ask(music_id, music_id=music_id, **asked))
        assert (job.status, job.error) == ("completed", None)
        stage.engine.refresh()
        document = read_result_document(stage.engine, job.job_id)
        assert document is not None
        rows = read_candidates(stage.engine, job.job_id)
        return ScanResult(document, frozenset((row["outcome"], row["reason"]) for row in rows))


def run_command(live: LivePlatform, profile: Path, *arguments: str) -> CompletedProcess[str]:
    """The command as a process, with a profile file."""
    given = {
        "PROFILE": str(profile),
        "SANDBOX_PORT": str(live.port),
        "DATA_HOME": str(live.place / "home"),
        "PYTHONPATH": str(ROOT),
    }
    return subprocess.run(
        [sys.executable, "-m", "api.cli.main", *arguments],
        env={**bare_environment(), **given}, cwd=live.place,
        capture_output=True, text=True, check=False,
        timeout=900,
    )  # fmt: skip


@pytest.mark.soak
def test_with_the_proposed_patch_the_next_scan_hears_what_it_lost_before(
    live: LivePlatform, lacking: Path, sound_cache: Path
) -> None:
    """As an operator does it: a scan, the doctor's proposal, the same scan with PROFILE_PATCH."""
    live.switch("page_scripts_elsewhere", mode="autumn-2026")
    ended = run_command(
        live, lacking, "doctor", "--live-check", "--json", "--pseudonymise", "--out", "first",
        "--time-limit", str(PATIENCE_S),
    )  # fmt: skip
    assert ended.returncode == 3, ended.stderr
    report = json.loads(ended.stdout)
    refused = {(one["host"], one["kind"]) for one in report["hosts"] if not one["is_permitted"]}
    assert ("v3.cdnplat.localhost", "media") in refused
    assert ("scripts.cdnplat.localhost", "script") in refused
    assert outcomes(report)["media"] == "refused"
    assert "✗ refused media" in ended.stderr

    wrong = {"PROFILE": str(lacking)}
    music_id = track_with_reuploads(live)
    before = scan(live, music_id, "before", sound_cache, **wrong)
    assert before.stops["media"] == "upstream_substitution"
    assert ("not_comparable", "no_reference_sound") in before.candidates
    assert (before.count("exact_music_id") > 0, before.count(*BY_SOUND)) == (True, 0)

    patch = live.place / "first" / PATCH
    after = scan(live, music_id, "after", sound_cache, **wrong, PROFILE_PATCH=str(patch))
    assert after.count("exact_music_id") == before.count("exact_music_id")
    assert after.count(*BY_SOUND) > 0
    assert after.stops["media"] == "completed"
    assert ("not_comparable", "no_reference_sound") not in after.candidates
    patched: dict[str, Any] = {"profile": str(lacking), "profile_patch": patch}
    again = live.check("second", **patched)
    assert outcomes(again.report)["media"] == "works"
    assert not any(not one["is_permitted"] for one in again.report["hosts"])

    check_the_shape_files(live, lacking)


def check_the_shape_files(live: LivePlatform, lacking: Path) -> None:
    """The folder of the first check becomes shape files that name nobody."""
    ended = run_command(live, lacking, "replay", "--from", "first", "--json")
    assert ended.returncode == 0, ended.stderr
    replayed = json.loads(ended.stdout)
    assert {(one["surface"], one["now"]) for one in replayed["bodies"]} >= {
        ("music_info", "records"),
        ("slides_info", "records"),
        ("video_page", "upstream_page_without_data"),
        ("search_stream", "upstream_login_required"),
    }
    track = LOCAL.get(f"{live.world}/tracks?limit=1").json()["tracks"][0]
    accounts = LOCAL.get(f"{live.world}/accounts?limit=10000").json()["accounts"]
    written = b"".join(
        path.read_bytes() for path in (live.place / "first").rglob("*") if path.is_file()
    )
    assert track["music_id"].encode() in written  # music is public
    named = [one[key] for one in accounts for key in ("sec_uid", "uid", "unique_id", "nickname")]
    assert [text for text in (track["aweme_id"], *named) if text.encode() in written] == []


def test_a_platform_that_is_not_there_is_said_within_the_time(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        live = LivePlatform(int(taken.getsockname()[1]), tmp_path)
        result = live.check("dead", canary_music_id="7300000000000000001")
    assert result.verdict.exit_code in {3, 4}
    assert "works" not in outcomes(result.report).values()
    assert result.report["requests"] <= REQUEST_LIMIT
    assert (tmp_path / "dead/report.md").exists()
