"""The job of a run that somebody launched in Dagster: its steps, and what it begins with."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dagster import AssetKey, DagsterRun
from hypothesis import given
from hypothesis import strategies as st

from pipelines.orchestration.definitions import GRAPHS
from pipelines.orchestration.runs.launched_job import LaunchedJob, begin_job
from pipelines.parameters.scan import fingerprint, scan_parameters
from pipelines.scan.state.scan_state import ScanState, pack_state, state_revision
from pipelines.settings import Settings
from warehouse.control import jobs, leases, open_control
from warehouse.control.jobs import NewJob
from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.store import open_lake
from warehouse.records.errors import InvalidMusicInputError, WorkerUnavailableError
from warehouse.records.jobs import Job

MUSIC_ID = "7342451722773117559"
TRACK = f"music:{MUSIC_ID}"
KEYWORD = "keyword:0123456789abcdef"
SCAN = GRAPHS["scan"]
UP_TO_DETAILS = SCAN.before({"confirmed_videos"})


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Any]:
    """A home with a queue and a lake: what a run opens, without its network and its decoders."""
    lake = open_lake(str(tmp_path / "lake"), world="sandbox")
    url = f"sqlite:///{tmp_path / 'control.sqlite'}"
    with (
        closing(open_control(url, world="sandbox")) as control,
        closing(Engine(lake)) as engine,
    ):
        yield SimpleNamespace(
            control=control, lake=lake, engine=engine, world="sandbox", music_provider="public",
            settings=Settings(_env_file=None),
        )  # fmt: skip


def run(
    run_id: str, *assets: str, partition: str = TRACK, repeats: str | None = None
) -> DagsterRun:
    return DagsterRun(
        job_name="__ASSET_JOB" if assets else "scan",
        run_id=run_id,
        asset_selection=frozenset(AssetKey(name.split("/")) for name in assets) or None,
        parent_run_id=repeats,
        root_run_id=repeats,
        tags={"dagster/partition": partition},
    )


def begin(stores: Any, one: DagsterRun) -> LaunchedJob:
    return begin_job(stores, one, GRAPHS)


def ended(stores: Any, name: str, **parameters: object) -> Job:
    """A job of the queue that has ended."""
    values = scan_parameters(parameters)
    jobs.create_or_join(
        stores.control,
        NewJob(
            kind="scan", input=MUSIC_ID, target=MUSIC_ID, music_id=MUSIC_ID,
            parameters=values.to_document(), fingerprint=name, scan_key=None, origin="api",
            priority=100, job_id=name,
        )
    )  # fmt: skip
    jobs.finish(stores.control, name, "completed")
    return stored(stores, name)


def stored(stores: Any, job_id: str) -> Job:
    job = jobs.get(stores.control, job_id)
    assert job is not None
    return job


def keep(
    stores: Any,
    job_id: str,
    number: int,
    *steps: str,
    rounds: int = 0,
    revision: str | None = None,
) -> None:
    """Store a state with these steps and rounds behind it, and the name of its job in it."""
    state = ScanState(
        steps={step: {} for step in steps}, checkpoint=number, settled={job_id},
        rounds=[((), 0)] * rounds,
    )  # fmt: skip
    row = {
        "job_id": job_id, "number": number, "run_number": 1, "stage": "rankings",
        "round": rounds - 1 if rounds else None, "revision": revision or state_revision(),
        "state": pack_state(state),
    }  # fmt: skip
    stores.lake.append("raw.scan_checkpoints", [row], job_id=job_id)


@given(st.sets(st.sampled_from(sorted(SCAN.needs))))
def test_steps_before_a_selection_are_complete(steps: set[str]) -> None:
    before = SCAN.before(steps)
    assert not before & steps
    assert SCAN.before(before | steps) == frozenset()


def test_the_order_of_the_steps_is_the_one_that_the_assets_declare() -> None:
    assert SCAN.before({"tracks"}) == frozenset()
    assert SCAN.before({"candidate_pool"}) == {
        "tracks", "music_first_screen", "author_first_screens", "hashtag_first_screens",
        "search_pages",
    }  # fmt: skip
    assert SCAN.before({"job_results"}) == SCAN.needs.keys() - {"job_results"}
    assert GRAPHS["keyword_search"].before({"job_results"}) == {
        "search_pages", "candidate_pool", "video_details",
    }  # fmt: skip


def test_a_whole_scan_begins_with_nothing_and_can_answer_later_requests(stores: Any) -> None:
    launched = begin(stores, run("first"))
    assert launched.state is None
    job = stored(stores, "first")
    assert (job.status, job.origin, job.kind, job.music_id) == (
        "running", "launchpad", "scan", MUSIC_ID,
    )  # fmt: skip
    assert job.scan_key is not None
    assert jobs.claim(stores.control, "a worker") is None


def test_one_step_begins_with_the_newest_state_before_it(stores: Any) -> None:
    ended(stores, "older")
    keep(stores, "older", 1, *UP_TO_DETAILS)
    ended(stores, "newest", candidate_limit=77)
    keep(stores, "newest", 7, *UP_TO_DETAILS)
    keep(stores, "newest", 8, *UP_TO_DETAILS, "confirmed_videos")
    launched = begin(stores, run("again", "marts/confirmed_videos", "marts/variants"))
    assert launched.state is not None
    assert launched.state.settled == {"newest"}
    assert set(launched.state.steps) == UP_TO_DETAILS
    job = stored(stores, "again")
    assert job.parameters["candidate_limit"] == 77
    assert job.scan_key is None, "observations of then answer no request of today"


def test_a_repeated_run_begins_with_its_own_state_though_others_are_newer(stores: Any) -> None:
    for name in ("failed", "newer"):
        ended(stores, name)
        keep(stores, name, 1, *UP_TO_DETAILS)
    launched = begin(stores, run("retry", "marts/confirmed_videos", repeats="failed"))
    assert launched.state is not None
    assert launched.state.settled == {"failed"}


def keep_rounds(stores: Any, job_id: str, *, has_ended: bool) -> None:
    """Store the states of a scan that broke off after two rounds, or ended them."""
    ended(stores, job_id)
    keep(stores, job_id, 1, *UP_TO_DETAILS)
    keep(stores, job_id, 2, *UP_TO_DETAILS, rounds=1)
    keep(stores, job_id, 3, *UP_TO_DETAILS, rounds=2)
    if has_ended:
        keep(stores, job_id, 4, *UP_TO_DETAILS, "confirmed_videos", rounds=2)


@pytest.mark.parametrize(
    ("has_ended", "repeats", "rounds"),
    [(True, None, 0), (True, "rounds", 0), (False, None, 0), (False, "rounds", 2)],
)
def test_only_a_repeated_run_that_broke_off_goes_on_between_its_rounds(
    has_ended: bool, repeats: str | None, rounds: int, stores: Any
) -> None:
    keep_rounds(stores, "rounds", has_ended=has_ended)
    launched = begin(stores, run("again", "marts/confirmed_videos", repeats=repeats))
    assert launched.state is not None
    assert len(launched.state.rounds) == rounds


def test_the_first_state_of_a_run_that_went_on_between_rounds_is_none_before_them(
    stores: Any,
) -> None:
    keep_rounds(stores, "broken", has_ended=False)
    ended(stores, "went on")
    keep(stores, "went on", 1, *UP_TO_DETAILS, rounds=2)
    keep(stores, "went on", 2, *UP_TO_DETAILS, "confirmed_videos", rounds=3)
    launched = begin(stores, run("again", "marts/confirmed_videos"))
    assert launched.state is not None
    assert (launched.state.settled, launched.state.rounds) == ({"broken"}, [])


@pytest.mark.parametrize("revision", ["of another release", None])
def test_without_a_state_before_it_a_step_says_what_to_materialize_too(
    revision: str | None, stores: Any
) -> None:
    ended(stores, "before")
    steps = UP_TO_DETAILS if revision else UP_TO_DETAILS - {"video_details"}
    keep(stores, "before", 1, *steps, revision=revision)
    with pytest.raises(InvalidMusicInputError, match="confirmed_videos could begin") as refused:
        begin(stores, run("early", "marts/confirmed_videos"))
    assert refused.value.hint is not None
    assert "video_details" in refused.value.hint
    assert jobs.get(stores.control, "early") is None


def test_a_track_that_is_scanned_at_this_moment_is_not_scanned_beside_it(stores: Any) -> None:
    other = ended(stores, "other")
    jobs.create_or_join(
        stores.control,
        NewJob(
            kind="scan", input=MUSIC_ID, target=MUSIC_ID, music_id=MUSIC_ID,
            parameters=other.parameters, fingerprint="busy", scan_key=None, origin="api",
            priority=100, job_id="busy",
        )
    )  # fmt: skip
    twin = fingerprint(MUSIC_ID, "sandbox", "public", scan_parameters({}))
    assert leases.acquire(stores.control, f"scan:{twin}", "busy", 600)
    with pytest.raises(WorkerUnavailableError, match="busy scans the same"):
        begin(stores, run("beside"))
    job = stored(stores, "beside")
    assert job.status == "failed"
    assert job.expires_at is not None, "it would be kept for ever"


def test_the_name_behind_a_search_comes_from_its_last_job(stores: Any) -> None:
    with pytest.raises(InvalidMusicInputError, match="is not known any more"):
        begin(stores, run("blind", "raw/search_pages", partition=KEYWORD))
    jobs.create_or_join(
        stores.control,
        NewJob(
            kind="keyword_search", input="Silver Glasshouse", target=KEYWORD, music_id=None,
            parameters=scan_parameters({}).to_document(), fingerprint="word", scan_key=None,
            origin="api", priority=100, job_id="word",
        )
    )  # fmt: skip
    begin(stores, run("again", "raw/search_pages", partition=KEYWORD))
    job = stored(stores, "again")
    assert (job.kind, job.input) == ("keyword_search", "Silver Glasshouse")


def test_a_search_by_name_has_no_ranking_to_materialize(stores: Any) -> None:
    with pytest.raises(InvalidMusicInputError, match="has no marts/rankings"):
        begin(stores, run("odd", "raw/search_pages", "marts/rankings", partition=KEYWORD))


def test_a_discovery_is_a_run_of_its_own(stores: Any) -> None:
    launched = begin(stores, run("found", "marts/discovered_videos"))
    assert (launched.job.kind, launched.state) == ("discovery", None)
    with pytest.raises(InvalidMusicInputError, match="in one run with the other"):
        begin(stores, run("both", "marts/discovered_videos", "raw/tracks"))
