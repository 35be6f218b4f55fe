"""A few of the kills of `python -m tests.fuzz.kills`."""

from pathlib import Path

from tests.fuzz.kills import hunt


def test_no_kill_loses_an_observation_or_leaves_a_job_without_an_end(tmp_path: Path) -> None:
    assert sum(hunt(tmp_path, moments=6, seed=2).values()) == 6
