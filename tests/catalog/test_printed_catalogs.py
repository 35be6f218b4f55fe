"""What is printed of catalogues and their runs while scans are under way, and of lists of songs."""

import io
from datetime import UTC, datetime
from typing import Any

from rich.console import Console

from api.cli.rendering.catalogs import CatalogRunDisplay, print_import, print_status
from pipelines.catalog.rules import TRACK_STATES, DaySpending, ImportOutcome, TrackState
from pipelines.catalog.run import CatalogProgress
from pipelines.catalog.service import CatalogStatus, ImportReport
from pipelines.catalog.sources.song_lists import ImportedSongList
from warehouse.records.catalogs import Catalog, CatalogSettings, CatalogTrack, ImportedTrack
from warehouse.records.jobs import Job, ProgressRecord

NOW = datetime(2026, 11, 20, 8, tzinfo=UTC)
STATES: dict[TrackState, int] = dict.fromkeys(TRACK_STATES, 0)


def paper(*, is_terminal: bool = False) -> tuple[Console, io.StringIO]:
    written = io.StringIO()
    console = Console(file=written, width=170, force_terminal=is_terminal, color_system=None)
    return console, written


def job(number: int, **progress: Any) -> Job:
    return Job(
        job_id=f"j-{number}", kind="scan", status="running", input="1", target="1", music_id="1",
        parameters={}, fingerprint="1", scan_key=None, origin="cli", priority=1,
        progress=ProgressRecord(**progress), error=None, cancel_requested=False, worker_id=None,
        heartbeat_at=None, created_at=NOW, started_at=NOW, finished_at=None, expires_at=None,
    )  # fmt: skip


def progress(*jobs: Job) -> CatalogProgress:
    return CatalogProgress(
        states=STATES, due_count=1_200, jobs={job.job_id: job for job in jobs}, ended=(),
        spent=DaySpending(tracks=2, requests=30), stop=None,
    )  # fmt: skip


def track(number: int, **fields: Any) -> CatalogTrack:
    given = ImportedTrack(key=f"music:{number}", input=str(number), label=f"song {number}")
    return CatalogTrack(given=given, position=number, **fields)


def test_a_run_says_what_its_scans_do_and_what_they_wait_for() -> None:
    console, written = paper()
    jobs = (job(1, stage="rankings"), job(2, stage="of tomorrow"), job(3, waiting_for="budget"))
    with CatalogRunDisplay(console) as display:
        display.close(progress(*jobs))
    (line,) = written.getvalue().splitlines()
    assert line == (
        "1,200 due · 3 running (1 ranking, 1 of tomorrow, 1 waiting for the daily budget of a "
        "host) · 0 fresh · 0 failed · today 2 scans, 30 requests"
    )


def test_a_terminal_shows_where_a_run_stands_before_any_track_has_ended() -> None:
    for is_terminal in (True, False):
        console, written = paper(is_terminal=is_terminal)
        with CatalogRunDisplay(console) as display:
            display.update(progress())
        assert ("1,200 due · 0 running" in written.getvalue()) is is_terminal


def test_an_import_says_how_much_of_a_list_of_songs_was_shown() -> None:
    lists = (
        ImportedSongList(line=2, input="link", title=None, song_count=30, stated_count=1_210),
        ImportedSongList(line=3, input="link", title="Top", song_count=12, stated_count=None),
    )
    report = ImportReport(
        name="songs", outcome=ImportOutcome(), new_count=42, updated_count=0, track_count=42,
        lists=lists, is_dry_run=False,
    )  # fmt: skip
    console, written = paper()
    print_import(console, report)
    assert written.getvalue().splitlines()[1:] == [
        "  line 2: list link, 30 of 1,210 songs",
        "  line 3: list Top, 12 songs",
    ]


def status() -> CatalogStatus:
    """One track that is scanned now, one that failed, one that was never read."""
    tracks = (
        track(1, job_id="j-1"),
        track(2, failed_at=NOW, error={"detail": "nothing came"}),
        track(3),
    )
    return CatalogStatus(
        catalog=Catalog(
            name="songs", settings=CatalogSettings(tracks_per_day=40), created_at=NOW,
            updated_at=NOW,
        ),
        read_at=NOW,
        tracks=tracks, states={**STATES, "running": 1, "failed": 1, "never_read": 1},
        due=tracks[2:], spent=DaySpending(tracks=3, requests=1_210),
        jobs={"music:1": job(1, stage="rankings")},
        same_music={"7300000000000000001": ("music:1", "music:2")},
    )  # fmt: skip


def test_tracks_that_turned_out_to_be_one_are_named() -> None:
    console, written = paper()
    print_status(console, status(), tracks=())
    first, today, same = written.getvalue().splitlines()
    assert first.startswith("songs 3 tracks · 1 due · ")
    assert "not run yet 1" in first
    assert "today: 3 of 40 scans, 1,210 requests" in today
    assert same.strip() == "music:1, music:2 are one music id: 7300000000000000001"


def test_only_tracks_in_the_wanted_states_are_listed_with_their_stage_or_error() -> None:
    console, written = paper()
    print_status(console, status(), tracks=("running", "failed"))
    rows = [line.split() for line in written.getvalue().splitlines() if "song" in line][1:]
    assert [row[:5] for row in rows] == [
        ["1", "song", "1", "0", "running"],
        ["2", "song", "2", "0", "failed"],
    ]
    assert rows[0][-1] == "rankings"
    assert rows[1][-2:] == ["nothing", "came"]
