"""Answers of surfaces that all processes learn from, on both databases."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.postgres import on_both
from warehouse.control import ControlStore, hosts, open_control

pytestmark = pytest.mark.full

HOST, SURFACE = "share.vidplat.localhost", "video_page"
OK, SHELL = "ok", "page_without_data"
DAY_S = 86_400.0


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


def note(control: ControlStore, kind: str) -> tuple[str, ...]:
    return hosts.note_answer(control, HOST, SURFACE, kind=kind, keep=50, max_age_s=DAY_S)


def claim(control: ControlStore) -> bool:
    return hosts.claim_probe(control, HOST, SURFACE, every_s=600, recovered=OK)


def test_the_latest_answers_are_kept_in_order(control: ControlStore) -> None:
    for number in range(60):
        note(control, SHELL if number % 2 else OK)
    (found,) = hosts.recent_answers(control, max_age_s=DAY_S).values()
    assert (len(found), found[0], found[-1]) == (50, OK, SHELL)


@on_both
def test_many_processes_lose_no_answer(control: ControlStore) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: note(control, OK), range(40)))
    assert hosts.recent_answers(control, max_age_s=DAY_S) == {(HOST, SURFACE): (OK,) * 40}


def test_answers_of_long_ago_are_forgotten(control: ControlStore, clock: Clock) -> None:
    note(control, SHELL)
    clock.now += DAY_S + 1
    assert hosts.recent_answers(control, max_age_s=DAY_S) == {}
    assert note(control, OK) == (OK,)


def test_sick_surface_is_probed_once_per_interval(control: ControlStore, clock: Clock) -> None:
    note(control, SHELL)
    assert not claim(control)
    clock.now += 600
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(lambda _: claim(control), range(8))) == 1
    clock.now += 599
    assert not claim(control)


def test_a_probe_with_data_lets_the_next_follow_at_once(
    control: ControlStore, clock: Clock
) -> None:
    note(control, SHELL)
    clock.now += 600
    assert claim(control)
    note(control, OK)
    assert claim(control)
    note(control, SHELL)
    assert not claim(control)


def test_a_surface_that_nobody_asked_may_be_probed(control: ControlStore) -> None:
    assert claim(control)
    assert not claim(control)
