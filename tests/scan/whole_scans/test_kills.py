"""Each kind of process, killed in the middle of a scan; `python -m benchmarks.fuzz.kills` does it
often, at random moments. The full tier kills a worker in `test_resuming.py`, a service in
`../api/test_api_process.py`.
"""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.fuzz.kills import VICTIMS, Hunt
from tests.deployment import open_deployment

pytestmark = pytest.mark.soak
ATTEMPTS = {"worker": 2, "scan process": 2, "listening child": 1, "service": 1}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, sound_cache: Path) -> Iterator[Hunt]:
    with open_deployment(tmp_path_factory.mktemp("kills"), sound_cache) as deployment:
        hunt = Hunt(deployment, random.Random(2))
        hunt.prepare()
        yield hunt


@pytest.fixture
def hunt(prepared: Hunt) -> Iterator[Hunt]:
    """Everything at work and nothing disturbed, whatever the test before has left."""
    prepared.deployment.settle()
    yield prepared
    prepared.deployment.settle()


@pytest.mark.parametrize("victim", VICTIMS)
def test_no_kill_loses_an_observation_or_changes_a_result(hunt: Hunt, victim: str) -> None:
    deployment = hunt.deployment
    deployment.hold("slides_info", after=8)
    job_id = hunt.ask()
    deployment.wait(lambda: deployment.job(job_id).progress.detail_checked_count >= 4)
    assert hunt.strike(job_id, victim) == "completed"
    assert deployment.job(job_id).attempt == ATTEMPTS[victim]
