"""One examination over real stores: what is not fit becomes a finding, and time is kept."""

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.cli.commands.system.doctor import build_examination
from pipelines.doctor.documents import CheckResult
from pipelines.doctor.health_check import SystemHealthCheck
from pipelines.doctor.probes.canaries import Canaries
from pipelines.doctor.probes.probe_round import ProbeRound
from pipelines.doctor.probes.table import PROBES, ProbeReader
from pipelines.platform.http.client import GuestClient
from pipelines.platform.http.host_policy import HostPolicy, HostRateLimiter
from pipelines.platform.profiles import load_profile
from pipelines.settings import Settings
from tests.platform.lenient_hosts import NoCircuits
from warehouse.control import open_control
from warehouse.home import open_home
from warehouse.records.errors import InvalidParameterError

pytestmark = pytest.mark.full


def examination(home: Path, *surfaces: str, **settings: Any) -> SystemHealthCheck:
    chosen = Settings(_env_file=None, data_home=home, profile="sandbox", **settings)
    return SystemHealthCheck(
        settings=chosen,
        profile=load_profile("sandbox", sandbox_port=chosen.sandbox_port),
        checks=[],
        surfaces=dict.fromkeys(surfaces, "waiting"),
    )


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=200) as server:
        yield int(server.getsockname()[1])


def test_a_home_of_another_world_is_a_finding_and_nothing_is_asked(tmp_path: Path) -> None:
    (tmp_path / "sandbox").mkdir()
    mark = tmp_path / "sandbox" / "world.json"
    mark.write_text('{"world": "public", "layout_version": 1}')
    examined = examination(tmp_path, "music_info")
    examined.run()
    report = examined.to_document(1.0)
    assert [(one["name"], one["state"]) for one in report["machine"]] == [("data home", "fail")]
    assert report["machine"][0]["advice"]
    assert [one["reason"] for one in report["surfaces"]] == ["data_home_unfit"]
    assert report["exit_code"] == 1


def test_a_control_store_of_another_world_is_a_finding_and_nothing_is_asked(
    tmp_path: Path,
) -> None:
    other = f"sqlite:///{tmp_path / 'other.sqlite'}"
    open_control(other, world="public").close()
    examined = examination(tmp_path, "music_info", control_url=other)
    examined.run()
    states = {finding.name: finding.state for finding in examined.findings}
    assert (states["control store"], states["warehouse"]) == ("fail", "ok")
    assert [health.reason for health in examined.health()] == ["stores_unfit"]


def test_doctor_check_that_raises_is_a_failed_finding(tmp_path: Path) -> None:
    def look() -> CheckResult:
        raise OSError("no such device")

    examined = examination(tmp_path)
    examined.checks = [("disk", look)]
    examined.run()
    found = {finding.name: finding for finding in examined.findings}
    assert (found["disk"].state, found["disk"].says) == ("fail", "OSError: no such device")
    assert examined.fault is None


def test_unfinished_checks_are_reported_at_the_time_limit(tmp_path: Path) -> None:
    examined = examination(tmp_path, "music_info", "user_info")
    examined.checks = [("disk", lambda: CheckResult("disk", "ok", "late"))]
    examined.surfaces["user_info"] = "asking"
    examined.end()
    assert [health.outcome for health in examined.health()] == ["not_asked", "unreachable"]
    assert [finding.says for finding in examined.findings] == ["no result in time"]
    assert examined.verdict().exit_code == 3


async def test_the_time_of_a_round_ends_every_question(tmp_path: Path, silent_port: int) -> None:
    home = open_home(tmp_path, "sandbox")
    profile = load_profile("sandbox", sandbox_port=silent_port)
    control = open_control(home.control_url, world="sandbox")
    limiter = HostRateLimiter(control, profile.rate, daily_budget=100)
    reader = ProbeReader(GuestClient(profile, HostPolicy(limiter=limiter, circuits=NoCircuits())))
    canaries = Canaries()
    canaries.offer("music_id", "7300000000000000001")
    found = await ProbeRound(reader, canaries, {}, "cli").run(PROBES, total_s=0.3)
    await reader.aclose()
    control.close()
    assert [health.surface for health in found] == [probe.surface for probe in PROBES]
    assert {health.reason for health in found} == {"time_is_up"}


def test_the_surfaces_that_are_named_are_asked_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROFILE", "sandbox")
    assert list(build_examination(["media"], wants_surfaces=True).surfaces) == ["media"]
    assert build_examination([], wants_surfaces=False).surfaces == {}
    with pytest.raises(InvalidParameterError, match="is unknown"):
        build_examination(["musik"], wants_surfaces=True)


def test_a_source_with_a_world_of_its_own_has_no_surface_to_ask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATA_PROVIDER", "mock")
    assert build_examination([], wants_surfaces=True).surfaces == {}


def test_a_webhook_that_is_not_listed_is_a_line_of_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATA_PROVIDER", "mock")
    assert "webhook" not in dict(build_examination([], wants_surfaces=False).checks)
    monkeypatch.setenv("DIGEST_WEBHOOK_URL", "https://hooks.example.com/x")
    found = dict(build_examination([], wants_surfaces=False).checks)["webhook"]()
    assert (found.state, "is not listed" in found.says) == ("fail", True)
    monkeypatch.setenv("DIGEST_WEBHOOK_HOSTS", "hooks.example.com")
    found = dict(build_examination([], wants_surfaces=False).checks)["webhook"]()
    assert found.state == "ok"
