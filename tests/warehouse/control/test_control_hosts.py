"""Circuits, captures under way and what hosts said of visits, on both databases."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from tests.postgres import on_both
from warehouse.control import ControlStore, captures, hosts, open_control
from warehouse.control.hosts import CacheValidators

pytestmark = pytest.mark.full

HOST, SURFACE = "share.vidplat.localhost", "music_list"


class Clock:
    """Unix seconds that a test moves."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def control(control_url: str, clock: Clock) -> Iterator[ControlStore]:
    control = open_control(control_url, world="sandbox", clock=clock)
    yield control
    control.close()


def fail(control: ControlStore, **over: Any) -> None:
    values: dict[str, Any] = {
        "cause": "upstream_forbidden", "is_probe": False, "threshold": 1,
        "open_s": 60.0, "longest_s": 600.0,
    }  # fmt: skip
    hosts.note_failure(control, HOST, SURFACE, **values | over)


def test_open_circuit_refuses_and_says_why_and_how_long(
    control: ControlStore, clock: Clock
) -> None:
    assert hosts.check_circuit(control, HOST, SURFACE, probe_s=30).is_allowed
    fail(control)
    clock.now += 20
    passage = hosts.check_circuit(control, HOST, SURFACE, probe_s=30)
    assert (passage.is_allowed, passage.wait_s, passage.cause) == (
        False, 40, "upstream_forbidden",
    )  # fmt: skip
    assert hosts.check_circuit(control, HOST, "music_info", probe_s=30).is_allowed


@on_both
def test_open_circuit_gives_one_probe_to_simultaneous_requests(
    control: ControlStore, clock: Clock
) -> None:
    fail(control)
    clock.now += 61
    with ThreadPoolExecutor(8) as pool:
        asked = pool.map(
            lambda _: hosts.check_circuit(control, HOST, SURFACE, probe_s=30), range(24)
        )
        passages = list(asked)
    assert sum(passage.is_allowed for passage in passages) == 1
    hosts.note_success(control, HOST, SURFACE, is_probe=True, with_data=True)
    assert hosts.check_circuit(control, HOST, SURFACE, probe_s=30).is_clean


def test_states_are_listed_with_when_it_last_worked_and_failed(
    control: ControlStore, clock: Clock
) -> None:
    hosts.note_success(control, HOST, SURFACE, is_probe=False, with_data=True)
    clock.now += 10
    fail(control)
    (state,) = hosts.read_circuits(control)
    assert state.worked_at is not None
    assert state.failed_at is not None
    assert state.open_until is not None
    assert (state.failed_at - state.worked_at).total_seconds() == 10
    assert (state.open_until - state.failed_at).total_seconds() == 60


def test_circuit_success_is_recorded_once_a_minute(control: ControlStore, clock: Clock) -> None:
    hosts.note_success(control, HOST, SURFACE, is_probe=False, with_data=True)
    assert hosts.check_circuit(control, HOST, SURFACE, probe_s=30).is_clean
    clock.now += 61
    assert not hosts.check_circuit(control, HOST, SURFACE, probe_s=30).is_clean


def test_capture_is_handed_to_those_who_wait_and_forgotten_later(
    control: ControlStore, clock: Clock
) -> None:
    assert captures.claim(control, "page", "one", ttl_s=60).is_ours
    assert captures.claim(control, "page", "two", ttl_s=60) == (False, "one")
    assert captures.check(control, "page", "one") == (False, None)
    assert not captures.finish(control, "page", "one")
    captures.publish(control, "page", "one", "capture-7")
    assert captures.check(control, "page", "one") == (True, "capture-7")
    assert captures.claim(control, "page", "two", ttl_s=60).is_ours
    clock.now += 100
    captures.claim(control, "other", "three", ttl_s=60)
    captures.publish(control, "other", "three", None)
    assert captures.check(control, "page", "two").is_over


def test_long_capture_is_prolonged_and_one_whose_reader_died_is_free(
    control: ControlStore, clock: Clock
) -> None:
    captures.claim(control, "page", "one", ttl_s=60)
    clock.now += 50
    captures.renew(control, "page", "one", ttl_s=60)
    clock.now += 50
    assert not captures.claim(control, "page", "two", ttl_s=60).is_ours
    clock.now += 11
    assert captures.claim(control, "page", "two", ttl_s=60).is_ours


def test_capture_that_nobody_waits_for_is_over_at_once(control: ControlStore) -> None:
    captures.claim(control, "page", "one", ttl_s=60)
    assert captures.finish(control, "page", "one")
    assert captures.claim(control, "page", "two", ttl_s=60).is_ours


@on_both
def test_capture_is_claimed_by_one_of_many_threads(control: ControlStore) -> None:
    with ThreadPoolExecutor(8) as pool:
        turns = list(
            pool.map(lambda n: captures.claim(control, "page", f"owner-{n}", ttl_s=60), range(24))
        )
    assert sum(turn.is_ours for turn in turns) == 1
    assert len({turn.owner for turn in turns}) == 1


def test_sequences_of_a_batch_stand_in_its_order(control: ControlStore) -> None:
    batch = [("b", "1"), ("a", "1"), ("b", "1"), ("a", "2")]
    assert captures.next_numbers(control, batch) == [1, 1, 2, 1]
    assert captures.next_numbers(control, batch) == [3, 2, 4, 2]


@on_both
def test_batches_of_many_never_give_a_number_twice(control: ControlStore) -> None:
    batches = [[("a", "1"), ("b", "1")], [("b", "1"), ("a", "1")]] * 12
    with ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(partial(captures.next_numbers, control), batches))
    seen = [number for pair in numbers for number in pair]
    assert sorted(seen) == sorted([*range(1, 25), *range(1, 25)])


@on_both
def test_answers_to_ask_again_with_are_kept_and_forgotten(
    control: ControlStore, clock: Clock
) -> None:
    first, second = (
        CacheValidators('"v1"', None, "a" * 64),
        CacheValidators('"v2"', "Fri", "b" * 64),
    )
    hosts.save_validators(control, "address", first)
    assert hosts.read_validators(control, "address") == first
    hosts.save_validators(control, "address", second)
    assert hosts.read_validators(control, "address") == second
    clock.now += 31 * 86_400
    hosts.save_validators(control, "other", first)
    assert hosts.read_validators(control, "address") is None


def test_robots_file_grows_old_and_decisions_are_replaced(
    control: ControlStore, clock: Clock
) -> None:
    hosts.save_robots(control, HOST, status=200, body="User-agent: *")
    kept = hosts.read_robots(control, HOST, max_age_s=86_400)
    assert kept is not None
    assert (kept.status, kept.body) == (200, "User-agent: *")
    clock.now += 86_401
    assert hosts.read_robots(control, HOST, max_age_s=86_400) is None
    for decision in ("unknown", "disallowed"):
        hosts.record_robots_decision(control, HOST, SURFACE, decision=decision, reason="because")
    assert [(each.surface, each.decision) for each in hosts.robots_decisions(control)] == [
        (SURFACE, "disallowed")
    ]
