"""Operations and scans under faults of a proxy; `make chaos` has all of them, and many scans."""

import random
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import pytest

from benchmarks.chaos.__main__ import open_platform
from benchmarks.chaos.endpoints import NAMED, PLATFORM_READS, Ids, ask
from benchmarks.chaos.faults import BY_NAME, FAULTS
from benchmarks.chaos.proxy import FaultProxy
from benchmarks.chaos.scans import Weather, open_campaign

pytestmark = pytest.mark.full

QUICK = [name for name in BY_NAME if name not in {"silence", "trickle"}]
ONE_OF_EACH_KIND = {"latency", "reset", "cut", "status_403", "changed", "challenge", "bomb"}
"""A connection, a body, a status and a refusal; the others of each kind are in the soak."""
CASES = [
    pytest.param(fault, operation, marks=[] if fault in ONE_OF_EACH_KIND else pytest.mark.soak)
    for fault, operation in zip(QUICK, cycle(sorted(PLATFORM_READS)), strict=False)
]
OTHERS = sorted(NAMED.keys() - PLATFORM_READS - {"related_videos"})


@pytest.fixture(scope="module")
def platform(
    tmp_path_factory: pytest.TempPathFactory, sound_cache: Path
) -> Iterator[tuple[FaultProxy, Ids]]:
    with open_platform(tmp_path_factory.mktemp("faults"), sound_cache) as found:
        yield found


@pytest.mark.parametrize(("fault", "operation"), CASES)
def test_a_fault_ends_as_its_documented_error(
    platform: tuple[FaultProxy, Ids], fault: str, operation: str
) -> None:
    proxy, ids = platform
    assert ask(operation, ids, proxy, BY_NAME[fault]).problem == ""


def test_a_challenge_in_place_of_a_redirect_has_its_name(
    platform: tuple[FaultProxy, Ids],
) -> None:
    proxy, ids = platform
    assert ask("sec_user_id", ids, proxy, BY_NAME["challenge"]).error == "upstream_verification"


@pytest.mark.parametrize(
    "operation", ["user_profile", pytest.param("music_videos", marks=pytest.mark.soak)]
)
def test_a_silent_platform_is_waited_for_only_so_long(
    platform: tuple[FaultProxy, Ids], operation: str
) -> None:
    proxy, ids = platform
    assert ask(operation, ids, proxy, BY_NAME["silence"]).problem == ""


def test_operations_without_platform_reads_send_no_request(
    platform: tuple[FaultProxy, Ids],
) -> None:
    proxy, ids = platform
    found = [ask(name, ids, proxy, BY_NAME["reset"]) for name in OTHERS[::6]]
    assert [one.requests for one in found] == [0] * len(found)
    assert [one.problem for one in found if one.problem] == []


@pytest.mark.soak
def test_scans_under_any_fault_end(tmp_path: Path, sound_cache: Path) -> None:
    with open_campaign(tmp_path, sound_cache, seed=3, runs=2) as campaign:
        weather = Weather(name="any", faults=FAULTS[-5:], share=0.2)
        campaign.proxy.choose = weather.chooser(random.Random(1))
        campaign.round(2)
        assert campaign.problems == []
        assert campaign.outcomes.total() == 2
