"""Commands with `--api` act on the service there; the stores of this machine are left alone."""

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
import uvicorn
from typer.testing import CliRunner

from api.cli.main import app as command_line
from api.process import build_app_from_settings
from api.services.job_feed import JobBroadcaster
from api.settings import ApiSettings
from tests.deployment import wait_for

pytestmark = pytest.mark.full

TRACK = "7348759830572834348"

type Run = Callable[..., Any]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("service")
    settings = ApiSettings(_env_file=None, data_home=home, data_provider="mock")
    feed = JobBroadcaster(limit=5)
    with build_app_from_settings(settings, feed=feed, note=lambda *_, **__: None) as app:
        server = uvicorn.Server(
            uvicorn.Config(app, port=0, log_level="error", timeout_graceful_shutdown=1)
        )
        thread = threading.Thread(target=server.run)
        thread.start()
        wait_for(lambda: server.started)
        try:
            yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture
def run(service: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Run a command in an empty folder, without a profile and without data."""
    before = structlog.get_config()
    monkeypatch.chdir(tmp_path)
    for name in ("PROFILE", "DATA_PROVIDER", "DATA_HOME"):
        monkeypatch.delenv(name, raising=False)

    def command(*words: str) -> Any:
        done = CliRunner().invoke(command_line, [*words, "--api", service, "--json"])
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    yield command
    assert list(tmp_path.iterdir()) == []
    structlog.configure(**before)


def test_watchlists_of_a_service(run: Run) -> None:
    made = run("watchlist", "add", "songs", "--track", TRACK, "--every", "every 6 hours")
    assert (made["name"], made["every"]) == ("songs", "every 6 hours")
    assert made["entries"][0]["input"] == TRACK
    assert [each["name"] for each in run("watchlist", "list")["watchlists"]] == ["songs"]
    assert run("watchlist", "disable", "songs")["enabled"] is False
    assert run("watchlist", "enable", "songs")["enabled"] is True
    started = run("watchlist", "run", "songs")
    assert [entry["input"] for entry in started["entries"]] == [TRACK]
    (listed,) = run("watchlist", "runs", "songs")["runs"]
    assert listed["run_id"] == started["run_id"]
    assert run("watchlist", "remove", "songs")["name"] == "songs"


def test_jobs_of_a_service(run: Run) -> None:
    job = run("music", "hot", TRACK, "--count", "5")
    assert job["job_id"] in {each["job_id"] for each in run("jobs")}
    beginning = job["job_id"][:8]
    assert run("jobs", "show", beginning)["job_id"] == job["job_id"]
    assert run("jobs", "cancel", beginning)["status"] == "cancelled"


def test_chart_links_of_a_service(run: Run) -> None:
    issue = run("chart", "history", "2022-03-01", "2022-03-01")["snapshots"][0]
    song_key = issue["songs"][0]["song_key"]
    assert run("chart", "song", song_key)["song_key"] == song_key
    run("chart", "unlink", song_key, TRACK, "--note", "another song")
    (link,) = run("chart", "links", song_key)["links"]
    assert (link["music_id"], link["said"]) == (TRACK, "different")


def test_a_service_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = CliRunner().invoke(command_line, ["watchlist", "list", "--api", "http://127.0.0.1:1"])
    assert done.exit_code == 1
    assert "service_unreachable" in done.stderr
