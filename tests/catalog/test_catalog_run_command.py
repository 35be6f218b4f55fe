"""`sametrack catalog run`, `cancel` and `match`: who else is at work, and what is said at last."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from api.cli.commands.catalog import app
from pipelines.catalog.sound_matches import MatchCounts, held
from tests.stored_results import MUSIC_ID
from warehouse.control import ControlStore, jobs, leases, open_control
from warehouse.home import open_home

type Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Commands on a home with a catalogue of one track, on a disk without space for a scan."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROFILE", "sandbox")
    monkeypatch.setenv("DATA_HOME", str(tmp_path))
    monkeypatch.setenv("MIN_FREE_DISK_MB", str(2**40))

    def command(*words: str) -> Result:
        return CliRunner().invoke(app, list(words), catch_exceptions=False)

    assert command("import", "songs", MUSIC_ID).exit_code == 0
    return command


@pytest.fixture
def control(run: Run, tmp_path: Path) -> Iterator[ControlStore]:
    url = open_home(tmp_path, "sandbox").control_url
    with closing(open_control(url, world="sandbox")) as opened:
        yield opened


def test_a_catalogue_that_another_process_runs_is_left_to_it(
    run: Run, control: ControlStore
) -> None:
    held_by_another = leases.acquire(control, "catalog:songs", "another", 60.0)
    assert held_by_another
    refused = run("run", "songs", "--json")
    assert refused.exit_code == 1
    assert "another process runs this catalogue" in refused.stderr
    assert "sametrack catalog cancel songs" in refused.stderr
    assert refused.stdout == ""


def test_a_person_reads_the_end_of_a_run_in_one_line(run: Run, control: ControlStore) -> None:
    jobs.beat(control, "worker", [])
    ended = run("run", "songs")
    assert ended.exit_code == 0
    assert ended.stdout == ""
    assert "no worker is running" not in ended.stderr
    (line,) = ended.stderr.splitlines()
    assert line.endswith("the disk is too full for another scan")


def test_a_run_that_was_stopped_says_how_many_jobs_were_cancelled(run: Run) -> None:
    assert run("cancel", "songs").stdout == "songs 0 jobs cancelled\n"


def test_sounds_are_looked_up_for_a_person_and_for_a_program(run: Run) -> None:
    shown = run("match", "songs")
    assert shown.exit_code == 0
    assert shown.stdout == "songs 0 sounds looked up, 0 pairs compared, 0 matches\n"
    document = json.loads(run("match", "songs", "--json").stdout)
    assert document == {
        "name": "songs", "sound_count": 0, "compared_count": 0, "match_count": 0,
    }  # fmt: skip


def test_catalog_match_prints_the_counts_of_its_look_up(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(_settings: object, _name: str, *, on_done: Callable[[int, int], None]) -> MatchCounts:
        on_done(1, 3)
        return MatchCounts(sounds=3, compared=12, matches=1)

    monkeypatch.setattr("pipelines.catalog.open_service.look_up_sounds", find)
    assert "3 sounds looked up, 12 pairs compared, 1 match" in run("match", "songs").stdout


def test_sounds_that_another_process_looks_up_are_left_to_it(run: Run, tmp_path: Path) -> None:
    folder = open_home(tmp_path, "sandbox").cache_dir / "reference-index" / "songs"
    with held(folder) as is_ours:
        assert is_ours
        refused = run("match", "songs")
    assert refused.exit_code == 1
    assert "another process looks them up: wait for it" in refused.stderr
    assert run("match", "songs").exit_code == 0
