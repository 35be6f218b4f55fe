"""The control store forgets whatever names somebody, in any table, and nothing else."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres import on_both
from warehouse.control import ControlStore, captures, erasure, jobs, links, open_control, watchlists
from warehouse.control.jobs import NewJob
from warehouse.records.watchlists import WatchlistEntry, WatchlistPlan

pytestmark = pytest.mark.full

WHO = "MS4wLjABAAAAgone_account-0001"


@pytest.fixture
def control(control_url: str) -> Iterator[ControlStore]:
    store = open_control(control_url, world="sandbox")
    yield store
    store.close()


def new_job(target: str) -> NewJob:
    return NewJob(
        kind="scan", input=f"about {target}", target=target, music_id=None, parameters={},
        fingerprint=target, scan_key=None, origin="api", priority=1,
    )  # fmt: skip


@on_both
def test_rows_that_name_it_go_from_every_table_and_the_others_stay(control: ControlStore) -> None:
    for name in (WHO, "another"):
        jobs.create_or_join(control, new_job(name))
        captures.next_numbers(control, [("user_posts", name)])[0]
        captures.raise_generations(control, [f"user:{name}"])
        links.save(control, f"https://short.example/{name}", "user", name, ttl_s=60)
        captures.add_to_backlog(control, "user_posts", {name: {"page": 1}})
    kept = jobs.create_or_join(control, new_job("kept"))[0]
    gone = erasure.erase(control, re.compile(WHO.encode()), job_ids=[kept.job_id])
    assert gone == {
        "jobs": 2, "sequences": 1, "generations": 1, "links": 1, "backlog": 1,
    }  # fmt: skip
    assert [job.target for job in jobs.newest(control, limit=9)] == ["another"]
    assert captures.next_numbers(control, [("user_posts", "another")])[0] == 2
    assert captures.next_numbers(control, [("user_posts", WHO)])[0] == 1
    assert control.schema_version() > 1


def test_a_watchlist_loses_the_account_and_keeps_its_other_entries(control: ControlStore) -> None:
    track = WatchlistEntry(kind="track", input="7300000000000000001")
    account = WatchlistEntry(kind="account", input=f"https://vidplat.example/user/{WHO}")
    for name, entries in (("both", (track, account)), ("alone", (account,)), ("other", (track,))):
        plan = WatchlistPlan(name=name, every="daily", entries=entries, parameters={"count": 5})
        assert watchlists.create(control, plan, "0 0 * * *")
    assert erasure.erase(control, re.compile(WHO.encode())) == {"watchlists": 2}
    left = {kept.plan.name: kept.plan for kept in watchlists.read_all(control)}
    assert left.keys() == {"both", "other"}
    assert (left["both"].entries, left["both"].parameters) == ((track,), {"count": 5})


def test_erasure_without_a_match_changes_no_row(control: ControlStore) -> None:
    jobs.create_or_join(control, new_job("another"))
    assert erasure.erase(control, re.compile(WHO.encode())) == {}
    assert len(jobs.newest(control, limit=9)) == 1


def test_the_file_itself_holds_nothing_of_it_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "control.sqlite"
    store = open_control(f"sqlite:///{path}", world="sandbox")
    for number in range(50):
        captures.next_numbers(store, [("user_posts", f"{WHO}-{number}")])[0]
    erasure.erase(store, re.compile(WHO.encode()))
    found = [one.name for one in tmp_path.iterdir() if WHO.encode() in one.read_bytes()]
    store.close()
    assert found == []
