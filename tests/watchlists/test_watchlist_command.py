"""`sametrack watchlist` on stores of its own: made, applied from a file, switched, run."""

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from api.cli.commands.watchlist import app
from api.cli.terminal import INPUT_ERROR_TYPES
from warehouse.control import jobs, open_control
from warehouse.home import open_home
from warehouse.records.errors import InvalidParameterError, SametrackError

FILE = """\
watchlists:
  - name: songs
    every: daily
    tracks: [7300000000000000001, 7300000000000000002]
  - name: people
    every: every 6 hours
    accounts: [MS4wLjABAAAAx]
"""

type Run = Callable[..., Result]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROFILE", "sandbox")
    monkeypatch.setenv("DATA_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def run(home: Path) -> Run:
    def command(*words: str, file: str | None = None) -> Result:
        if file is not None:
            (home / "lists.yaml").write_text(file)
        return CliRunner().invoke(app, list(words), catch_exceptions=True)

    return command


def shown(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def applied(run: Run, *options: str, file: str | None = None) -> dict[str, str]:
    done = shown(run("apply", "lists.yaml", "--json", *options, file=file))
    return {one["name"]: " ".join([one["what"], *one["fields"]]) for one in done["changes"]}


def test_every_threshold_can_be_said_on_the_command_line(run: Run) -> None:
    given = (
        "--velocity", "5", "--rank-change", "2", "--no-new-music-id", "--likes", "500",
        "--creator-followers", "9", "--no-disappeared",
        "--usage-growth", "50",
    )  # fmt: skip
    made = shown(run("add", "songs", "--track", "7300000000000000001", *given, "--json"))
    assert made["thresholds"] == {
        "velocity": 5.0, "rank_change": 2, "new_music_id": False, "likes": 500,
        "creator_followers": 9, "disappeared": False, "usage_growth": 50.0,
    }  # fmt: skip


def test_a_threshold_that_no_video_reaches_is_refused(run: Run) -> None:
    failed = run("add", "songs", "--track", "7300000000000000001", "--velocity", "inf")
    assert failed.exit_code == 2
    assert "--velocity inf is no hot score a day" in failed.output
    assert shown(run("list", "--json"))["watchlists"] == []


def test_a_file_is_applied_once_and_says_what_changed(run: Run) -> None:
    assert applied(run, "--dry-run", file=FILE) == {"songs": "added", "people": "added"}
    assert shown(run("list", "--json"))["watchlists"] == []
    assert applied(run) == {"songs": "added", "people": "added"}
    before = shown(run("list", "--json"))
    assert applied(run) == {"songs": "unchanged", "people": "unchanged"}
    assert shown(run("list", "--json")) == before

    changed = FILE.replace("every: daily", "every: weekly\n    enabled: false")
    assert applied(run, file=changed)["songs"] == "changed every enabled"
    kept = {one["name"]: one for one in shown(run("list", "--json"))["watchlists"]}
    assert (kept["songs"]["cron"], kept["songs"]["next_due_at"]) == ("0 0 * * 1", None)


def test_watchlist_apply_keeps_unnamed_watchlists_unless_pruned(run: Run) -> None:
    assert run("add", "mine", "--track", "7300000000000000003").exit_code == 0
    assert applied(run, file=FILE)["mine"] == "kept"
    assert applied(run, "--prune", "--dry-run")["mine"] == "removed"
    assert applied(run, "--prune")["mine"] == "removed"
    names = [one["name"] for one in shown(run("list", "--json"))["watchlists"]]
    assert names == ["people", "songs"]


@pytest.mark.parametrize(
    ("before", "after", "detail"),
    [
        ("every: daily", "every: often", "line 2: songs: `every`: 'often' is not understood"),
        ("every: every 6 hours", "evry: daily", "line 6: `evry` is not a field"),
        ("7300000000000000002]", "7300000000000000001]", "line 2: songs: `entries`"),
        ("7300000000000000002]", "a song]", "line 2: songs: "),
    ],
)
def test_a_file_with_a_mistake_changes_nothing(
    run: Run, before: str, after: str, detail: str
) -> None:
    failed = run("apply", "lists.yaml", file=FILE.replace(before, after))
    assert isinstance(failed.exception, InvalidParameterError)
    assert failed.exception.detail.startswith(detail)
    assert shown(run("list", "--json"))["watchlists"] == []


def test_a_file_that_is_not_there_is_said(run: Run) -> None:
    failed = run("apply", "nowhere.yaml")
    assert "nowhere.yaml does not exist" in str(failed.exception)


def test_a_watchlist_is_added_switched_and_removed(run: Run) -> None:
    words = ["--track", "7300000000000000001", "--every", "every monday at 8:00", "--count", "10"]
    made = shown(run("add", "songs", *words, "--json"))
    assert (made["cron"], made["parameters"]) == ("0 8 * * 1", {"count": 10})
    assert "songs" in run("list").output
    assert shown(run("disable", "songs", "--json"))["enabled"] is False
    assert "songs enabled" in run("enable", "songs").output
    assert run("remove", "songs").exit_code == 0
    gone = run("remove", "songs")
    assert isinstance(gone.exception, SametrackError)
    assert gone.exception.type == "not_found"
    assert gone.exception.type in INPUT_ERROR_TYPES, "the command ends with status 2"


def test_watchlist_without_entries_is_refused(run: Run) -> None:
    assert run("add", "empty").exit_code == 2


def test_more_entries_than_a_watchlist_has_are_refused(run: Run) -> None:
    tracks = [word for number in range(51) for word in ("--track", f"73000000000000000{number:02}")]
    failed = run("add", "many", *tracks)
    assert isinstance(failed.exception, InvalidParameterError)
    assert failed.exception.detail == "`entries`: 51 given, a watchlist has 1 to 50"
    assert shown(run("list", "--json"))["watchlists"] == []


def test_what_the_api_refuses_is_refused_here_too(run: Run) -> None:
    failed = run("add", "songs", "--account", " ")
    assert isinstance(failed.exception, InvalidParameterError)
    assert failed.exception.detail.startswith("`entries.0.input`: ")
    assert run("add", "songs", "--account", "MS4wLjABAAAAx", "--rank-change", "501").exit_code == 2
    assert shown(run("list", "--json"))["watchlists"] == []


def test_an_entry_is_kept_without_the_blanks_around_it(run: Run) -> None:
    made = shown(run("add", "songs", "--account", " MS4wLjABAAAAx ", "--json"))
    assert [entry["input"] for entry in made["entries"]] == ["MS4wLjABAAAAx"]


def test_a_run_hands_its_scans_in_for_a_person(run: Run, home: Path) -> None:
    run("apply", "lists.yaml", file=FILE)
    found = shown(run("run", "songs", "--json"))
    assert (found["status"], found["origin"]) == ("waiting", "cli")
    with closing(open_control(open_home(home, "sandbox").control_url, world="sandbox")) as control:
        scans = jobs.newest(control, limit=9)
    assert {job.job_id for job in scans} == {entry["job_id"] for entry in found["entries"]}
    assert {(job.priority, job.origin) for job in scans} == {(100, "cli")}
    assert shown(run("run", "songs", "--json"))["run_id"] == found["run_id"]
    (listed,) = shown(run("runs", "songs", "--json"))["runs"]
    assert listed["status"] == "waiting"
    assert "waiting" in run("runs", "songs").output
    assert run("digest", "songs").exit_code == 1


def test_no_scan_is_submitted_while_the_disk_is_nearly_full(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("apply", "lists.yaml", file=FILE)
    monkeypatch.setenv("MIN_FREE_DISK_MB", str(2**40))
    failed = run("run", "songs", "--wait", "--json")
    entries = json.loads(failed.stdout)["entries"]
    assert [entry["error"]["type"] for entry in entries] == ["capacity_exhausted"] * 2
    assert failed.exit_code == 1


def test_a_run_that_could_check_nothing_ends_with_status_1(run: Run, home: Path) -> None:
    run("apply", "lists.yaml", file=FILE)
    found = shown(run("run", "songs", "--json"))
    with closing(open_control(open_home(home, "sandbox").control_url, world="sandbox")) as control:
        for entry in found["entries"]:
            jobs.request_cancel(control, entry["job_id"])
    failed = run("run", "songs", "--wait", "--json")
    assert (failed.exit_code, json.loads(failed.stdout)["status"]) == (1, "failed")


def test_watchlist_list_without_watchlists_says_how_to_add_one(run: Run) -> None:
    assert "no watchlists yet" in run("list").output


def test_watchlist_commands_print_what_they_changed(run: Run) -> None:
    tried = run("apply", "lists.yaml", "--dry-run", file=FILE).output
    assert "added     songs" in tried
    assert "dry run: nothing was changed" in tried
    assert "dry run" not in run("apply", "lists.yaml").output
    changed = FILE.replace("every: daily", "every: weekly")
    assert "changed   songs (every)" in run("apply", "lists.yaml", file=changed).output
    assert "songs disabled · weekly · paused" in run("disable", "songs").output
    started = run("run", "songs").output
    assert "waiting" in started
    assert "2 scans submitted; the digest follows" in started
    assert "no digest yet" in run("digest", "songs").output
    assert shown(run("remove", "people", "--json"))["name"] == "people"
    assert "songs removed" in run("remove", "songs").output


def test_a_file_that_is_no_text_is_said(run: Run, home: Path) -> None:
    (home / "lists.yaml").write_bytes(b"\xff\xfe\x00")
    failed = run("apply", "lists.yaml")
    assert "lists.yaml is not a text in UTF-8" in str(failed.exception)
