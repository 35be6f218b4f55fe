"""Links, leases, counters, generations and hosts, on SQLite and on PostgreSQL."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from tests.postgres import on_both
from warehouse.control import ControlStore, captures, hosts, jobs, leases, links, open_control
from warehouse.control.captures import ANY_ENTITY
from warehouse.control.jobs import NewJob
from warehouse.control.links import CachedLink

pytestmark = pytest.mark.full

START = datetime(2026, 11, 1, tzinfo=UTC)


class Times:
    """A clock that moves when told to."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        return self.now.timestamp()


@pytest.fixture
def times() -> Times:
    return Times()


@pytest.fixture
def control(control_url: str, times: Times) -> Iterator[ControlStore]:
    store = open_control(control_url, world="sandbox", clock=times)
    yield store
    store.close()


def test_link_is_recalled_until_it_runs_out(control: ControlStore, times: Times) -> None:
    links.save(control, "short", "video", "1", ttl_s=60)
    links.save(control, "short", "music", "2", ttl_s=60)
    assert links.read(control, "short") == CachedLink("music", "2")
    assert links.read(control, "other") is None
    times.now += timedelta(seconds=60)
    assert links.read(control, "short") is None


@on_both
def test_lease_has_one_holder_at_a_time(control: ControlStore, times: Times) -> None:
    assert leases.acquire(control, "music:1", "a", 10)
    assert not leases.acquire(control, "music:1", "b", 10)
    assert leases.acquire(control, "music:2", "b", 10)
    times.now += timedelta(seconds=9)
    assert leases.acquire(control, "music:1", "a", 10)
    times.now += timedelta(seconds=9)
    assert not leases.acquire(control, "music:1", "b", 10)
    times.now += timedelta(seconds=1)
    assert leases.acquire(control, "music:1", "b", 10)


def test_lease_is_released_by_its_holder_only(control: ControlStore) -> None:
    leases.acquire(control, "music:1", "a", 10)
    leases.release(control, "music:1", "b")
    assert not leases.acquire(control, "music:1", "b", 10)
    leases.release(control, "music:1", "a")
    assert leases.acquire(control, "music:1", "b", 10)


def test_lease_names_its_holder_until_it_ends(control: ControlStore, times: Times) -> None:
    assert leases.holder(control, "music:1") is None
    leases.acquire(control, "music:1", "a", 10)
    assert leases.holder(control, "music:1") == "a"
    times.now += timedelta(seconds=10)
    assert leases.holder(control, "music:1") is None


def test_leases_are_listed_with_their_holders_by_the_beginning_of_their_names(
    control: ControlStore, times: Times
) -> None:
    leases.acquire(control, "a_b:1", "a", 10)
    leases.acquire(control, "a_b:2", "b", 20)
    leases.acquire(control, "a-b:3", "c", 20)
    assert leases.holders(control, "a_b:") == {"a_b:1": "a", "a_b:2": "b"}
    times.now += timedelta(seconds=10)
    assert leases.holders(control, "a_b:") == {"a_b:2": "b"}
    assert leases.holders(control, "b:") == {}


def test_an_owner_gives_back_all_its_leases_at_once(control: ControlStore) -> None:
    leases.acquire(control, "music:1", "a", 10)
    leases.acquire(control, "music:2", "a", 10)
    leases.acquire(control, "music:3", "b", 10)
    leases.release_all(control, "a")
    holders = [leases.holder(control, f"music:{number}") for number in (1, 2, 3)]
    assert holders == [None, None, "b"]


def test_sequences_count_each_surface_and_entity_from_one(control: ControlStore) -> None:
    asked = [("list", "1"), ("list", "1"), ("list", "2"), ("posts", "1"), ("list", "1")]
    assert [captures.next_numbers(control, [key])[0] for key in asked] == [1, 2, 1, 1, 3]


@on_both
def test_generations_are_read_by_entity_and_as_a_whole(
    control: ControlStore,
) -> None:
    heard: list[set[str]] = []
    control.on_generations_change = lambda entities: heard.append(set(entities))
    for entities in (["music:1"], ["music:2", "music:2"], ["music:1"]):
        captures.raise_generations(control, entities)
    names = ["music:1", "music:2", "music:3", *(f"user:{n}" for n in range(1_200))]
    assert captures.read_generations(control, names) == {"music:1": 2, "music:2": 1}
    assert captures.read_generations(control, [ANY_ENTITY]) == {ANY_ENTITY: 3}
    assert captures.read_generations(control, []) == {}
    captures.raise_generations(control, [])
    assert heard == [{ANY_ENTITY, "music:1"}, {ANY_ENTITY, "music:2"}, {ANY_ENTITY, "music:1"}]


@on_both
def test_numbers_of_captures_are_raised_and_never_lowered(control: ControlStore) -> None:
    for _ in range(5):
        captures.next_numbers(control, [("list", "1")])[0]
    captures.raise_numbers(control, {("list", "1"): 3, ("list", "2"): 8, ("posts", "1"): 1})
    captures.raise_numbers(control, {("posts", "1"): 4})
    captures.raise_numbers(control, {})
    following = [captures.next_numbers(control, [key])[0] for key in (("list", "1"), ("list", "2"))]
    assert following == [6, 9]
    assert captures.next_numbers(control, [("posts", "1")])[0] == 5


@on_both
def test_job_counts_and_queue_age(control: ControlStore, times: Times) -> None:
    assert (jobs.counts(control), jobs.queue_age_s(control)) == ({}, 0)
    for number in range(3):
        jobs.create_or_join(
            control,
            NewJob(
                kind="scan", input="1", target="1", music_id="1", parameters={},
                fingerprint=str(number), scan_key=None, origin="cli", priority=100,
            )
        )  # fmt: skip
    jobs.claim(control, "worker")
    times.now += timedelta(seconds=90)
    assert jobs.counts(control) == {"queued": 2, "running": 1}
    assert jobs.queue_age_s(control) == 90


@on_both
def test_tokens_run_out_and_come_back(control: ControlStore, times: Times) -> None:
    def wait() -> float:
        return hosts.take_token(control, "host", rate_per_s=2, burst=2, daily_budget=99).wait_s

    assert [wait() for _ in range(4)] == pytest.approx([0, 0, 0.5, 1.0])
    times.now += timedelta(seconds=60)
    assert [wait() for _ in range(3)] == pytest.approx([0, 0, 0.5])


def test_budget_is_per_host_and_day(control: ControlStore, times: Times) -> None:
    def is_spent(host: str) -> bool:
        grant = hosts.take_token(control, host, rate_per_s=99, burst=9, daily_budget=2)
        return grant.waits_for == "day"

    assert [is_spent("a"), is_spent("a"), is_spent("a"), is_spent("b")] == [
        False,
        False,
        True,
        False,
    ]
    times.now += timedelta(days=1)
    assert not is_spent("a")


def test_pause_ends_by_itself_and_is_never_cut_short(control: ControlStore, times: Times) -> None:
    assert hosts.paused_until(control, "host") is None
    hosts.pause_host(control, "host", 60)
    hosts.pause_host(control, "host", 5)
    late = START + timedelta(seconds=60)
    assert hosts.paused_until(control, "host") == late
    assert hosts.paused_until(control, "other") is None
    times.now = late
    assert hosts.paused_until(control, "host") is None


def test_workers_silent_for_a_day_are_forgotten(control: ControlStore, times: Times) -> None:
    jobs.beat(control, "gone", [])
    times.now += timedelta(days=1)
    jobs.beat(control, "here", [])
    assert leases.delete_expired(control, times.now) > 0
    assert jobs.live_workers(control, 10**9) == ["here"]


def test_expired_links_and_leases_are_swept(control: ControlStore, times: Times) -> None:
    links.save(control, "short", "music", "1", ttl_s=1)
    leases.acquire(control, "music:1", "a", 1)
    times.now += timedelta(seconds=2)
    assert leases.delete_expired(control, times.now) == 2
    assert leases.delete_expired(control, times.now) == 0
    times.now = START
    assert links.read(control, "short") is None
    assert leases.acquire(control, "music:1", "b", 1)
