"""Options, estimate and following of a scan."""

from typing import Any

import pytest
from typer.testing import CliRunner

from api.cli.commands.demo import DEFAULT_PARAMETERS, choose_track
from api.cli.commands.scan import estimate_scan
from api.cli.interrupts import Interrupted
from api.cli.main import app
from api.cli.options import given_parameters
from api.cli.rendering.progress import follow_job
from pipelines.parameters.scan import PARAMETERS, scan_parameters


@pytest.mark.parametrize("command", [["scan"], ["music", "hot"], ["music", "batch"]])
@pytest.mark.parametrize("name", [*(parameter.name for parameter in PARAMETERS), "search_keywords"])
def test_every_parameter_has_an_option(name: str, command: list[str]) -> None:
    answer = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "200"})
    assert f"--{name.replace('_', '-')}" in answer.output


@pytest.mark.parametrize(
    "options",
    [
        ["--count", "0"], ["--count", "501"], ["--candidate-limit", "14"], ["--sort-by", "best"],
        ["--match-threshold", "1.1"], ["--search-keywords", "a,b,c,d,e,f,g,h,i"], ["--misspelt"],
    ],
)  # fmt: skip
def test_a_value_beyond_its_limits_is_refused_before_anything_starts(options: list[str]) -> None:
    answer = CliRunner().invoke(app, ["scan", "1", "--api", "http://127.0.0.1:1", *options])
    assert answer.exit_code == 2


def test_scan_options_that_were_not_given_are_not_sent() -> None:
    given = given_parameters(count=None, refresh=False, search_keywords=None)
    assert given == {"refresh": False}


def test_the_estimate_grows_with_the_scan_and_shrinks_with_the_pace() -> None:
    small, large = (scan_parameters({"candidate_limit": limit}) for limit in (15, 2000))
    slow = estimate_scan(large, requests_per_s=2.0)
    assert slow.requests > estimate_scan(small, requests_per_s=2.0).requests
    assert slow.is_large
    assert not estimate_scan(small, requests_per_s=1000.0).is_large
    assert "requests" in slow.sentence()
    deaf = scan_parameters({"candidate_limit": 2000, "verify_audio": False})
    assert estimate_scan(deaf, requests_per_s=2.0).requests < slow.requests


def test_the_demo_track_is_the_one_with_the_longest_public_list() -> None:
    tracks = [{"music_id": str(count), "listed_count": count} for count in (5, 45, 46, 9)]
    assert choose_track(tracks)["music_id"] == "46"


def test_a_demo_scans_with_the_default_parameters() -> None:
    assert scan_parameters(DEFAULT_PARAMETERS) == scan_parameters({})


class FakeJobClient:
    """A job that runs until it is cancelled."""

    def __init__(self, ends_after: int) -> None:
        self.looks, self.ends_after, self.cancelled = 0, ends_after, False

    def create(self, text: str, parameters: object) -> dict[str, Any]:
        raise AssertionError

    def job(self, job_id: str) -> dict[str, Any]:
        self.looks += 1
        status = "running" if self.looks < self.ends_after else "completed"
        return {"job_id": job_id, "status": "cancelled" if self.cancelled else status}

    def cancel(self, job_id: str) -> dict[str, Any]:
        self.cancelled = True
        return {"job_id": job_id, "status": "running", "cancel_requested": True}


class Seen:
    """Remembers; interrupts at the looks named."""

    def __init__(self, *interrupts: int) -> None:
        self.jobs: list[dict[str, Any]] = []
        self.interrupts = set(interrupts)

    def update(self, job: dict[str, Any]) -> None:
        self.jobs.append(job)
        if len(self.jobs) in self.interrupts:
            raise Interrupted(2)


QUEUED = {"job_id": "x", "status": "queued"}


def test_a_job_is_followed_to_its_end() -> None:
    seen = Seen()
    assert follow_job(FakeJobClient(3), QUEUED, seen, every_s=0)["status"] == "completed"
    assert [job["status"] for job in seen.jobs] == ["queued", "running", "running", "completed"]


def test_the_first_interrupt_asks_to_stop_and_waits() -> None:
    job_client = FakeJobClient(100)
    assert follow_job(job_client, QUEUED, Seen(2), every_s=0)["status"] == "cancelled"
    assert job_client.cancelled


def test_the_second_interrupt_does_not_wait() -> None:
    with pytest.raises(Interrupted):
        follow_job(FakeJobClient(100), QUEUED, Seen(2, 3), every_s=0)
