"""Circuits, captures under way and what hosts said of visits, on both databases."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from warehouse.control import CacheValidators, ControlStore, open_control

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
    control.note_failure(HOST, SURFACE, **values | over)


def test_open_circuit_refuses_and_says_why_and_how_long(
    control: ControlStore, clock: Clock
) -> None:
    assert control.check_circuit(HOST, SURFACE, probe_s=30).is_allowed
    fail(control)
    clock.now += 20
    passage = control.check_circuit(HOST, SURFACE, probe_s=30)
    assert (passage.is_allowed, passage.wait_s, passage.cause) == (
        False, 40, "upstream_forbidden",
    )  # fmt: skip
    assert control.check_circuit(HOST, "music_info", probe_s=30).is_allowed


def test_of_many_that_ask_at_once_one_gets_the_probe(control: ControlStore, clock: Clock) -> None:
    fail(control)
    clock.now += 61
    with ThreadPoolExecutor(8) as pool:
        asked = pool.map(lambda _: control.check_circuit(HOST, SURFACE, probe_s=30), range(24))
        passages = list(asked)
    assert sum(passage.is_allowed for passage in passages) == 1
    control.note_success(HOST, SURFACE, is_probe=True, with_data=True)
    assert control.check_circuit(HOST, SURFACE, probe_s=30).is_clean


def test_states_are_listed_with_when_it_last_worked_and_failed(
    control: ControlStore, clock: Clock
) -> None:
    control.note_success(HOST, SURFACE, is_probe=False, with_data=True)
    clock.now += 10
    fail(control)
    (state,) = control.circuits()
    assert state.worked_at is not None
    assert state.failed_at is not None
    assert state.open_until is not None
    assert (state.failed_at - state.worked_at).total_seconds() == 10
    assert (state.open_until - state.failed_at).total_seconds() == 60


def test_success_is_no_news_for_a_minute(control: ControlStore, clock: Clock) -> None:
    control.note_success(HOST, SURFACE, is_probe=False, with_data=True)
    assert control.check_circuit(HOST, SURFACE, probe_s=30).is_clean
    clock.now += 61
    assert not control.check_circuit(HOST, SURFACE, probe_s=30).is_clean


def test_capture_is_handed_to_those_who_wait_and_forgotten_later(
    control: ControlStore, clock: Clock
) -> None:
    assert control.claim_capture("page", "one", ttl_s=60).is_ours
    assert control.claim_capture("page", "two", ttl_s=60) == (False, "one")
    assert control.check_capture("page", "one") == (False, None)
    assert not control.finish_capture("page", "one")
    control.publish_capture("page", "one", "capture-7")
    assert control.check_capture("page", "one") == (True, "capture-7")
    assert control.claim_capture("page", "two", ttl_s=60).is_ours
    clock.now += 100
    control.claim_capture("other", "three", ttl_s=60)
    control.publish_capture("other", "three", None)
    assert control.check_capture("page", "two").is_over


def test_long_capture_is_prolonged_and_one_whose_reader_died_is_free(
    control: ControlStore, clock: Clock
) -> None:
    control.claim_capture("page", "one", ttl_s=60)
    clock.now += 50
    control.renew_capture_claim("page", "one", ttl_s=60)
    clock.now += 50
    assert not control.claim_capture("page", "two", ttl_s=60).is_ours
    clock.now += 11
    assert control.claim_capture("page", "two", ttl_s=60).is_ours


def test_capture_that_nobody_waits_for_is_over_at_once(control: ControlStore) -> None:
    control.claim_capture("page", "one", ttl_s=60)
    assert control.finish_capture("page", "one")
    assert control.claim_capture("page", "two", ttl_s=60).is_ours


def test_of_many_that_want_to_capture_one_does(control: ControlStore) -> None:
    with ThreadPoolExecutor(8) as pool:
        turns = list(
            pool.map(lambda n: control.claim_capture("page", f"owner-{n}", ttl_s=60), range(24))
        )
    assert sum(turn.is_ours for turn in turns) == 1
    assert len({turn.owner for turn in turns}) == 1


def test_sequences_of_a_batch_stand_in_its_order(control: ControlStore) -> None:
    batch = [("b", "1"), ("a", "1"), ("b", "1"), ("a", "2")]
    assert control.next_sequences(batch) == [1, 1, 2, 1]
    assert control.next_sequences(batch) == [3, 2, 4, 2]


def test_batches_of_many_never_give_a_number_twice(control: ControlStore) -> None:
    batches = [[("a", "1"), ("b", "1")], [("b", "1"), ("a", "1")]] * 12
    with ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(control.next_sequences, batches))
    seen = [number for pair in numbers for number in pair]
    assert sorted(seen) == sorted([*range(1, 25), *range(1, 25)])


def test_answers_to_ask_again_with_are_kept_and_forgotten(
    control: ControlStore, clock: Clock
) -> None:
    first, second = (
        CacheValidators('"v1"', None, "a" * 64),
        CacheValidators('"v2"', "Fri", "b" * 64),
    )
    control.save_validators("address", first)
    assert control.read_validators("address") == first
    control.save_validators("address", second)
    assert control.read_validators("address") == second
    clock.now += 31 * 86_400
    control.save_validators("other", first)
    assert control.read_validators("address") is None


def test_robots_file_grows_old_and_decisions_are_replaced(
    control: ControlStore, clock: Clock
) -> None:
    control.save_robots_file(HOST, status=200, body="User-agent: *")
    kept = control.robots_file(HOST, max_age_s=86_400)
    assert kept is not None
    assert (kept.status, kept.body) == (200, "User-agent: *")
    clock.now += 86_401
    assert control.robots_file(HOST, max_age_s=86_400) is None
    for decision in ("unknown", "disallowed"):
        control.record_robots(HOST, SURFACE, decision=decision, reason="because")
    assert [(each.surface, each.decision) for each in control.robots_decisions()] == [
        (SURFACE, "disallowed")
    ]
