"""Many processes on one control store, on SQLite and on PostgreSQL."""

import subprocess
import sys
from pathlib import Path

import pytest

from warehouse.control import open_control

PROCESSES = 4  # `make load` has 200 users and 10 jobs


def run_together(program: Path, *argument_lists: tuple[str, ...]) -> list[list[str]]:
    """Run the program once per argument list, all at the same time; their lines of output."""
    running = [
        subprocess.Popen(
            [sys.executable, program, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for arguments in argument_lists
    ]
    outputs = [process.communicate() for process in running]
    assert [error for _, error in outputs] == [""] * len(running)
    assert [process.returncode for process in running] == [0] * len(running)
    return [output.splitlines() for output, _ in outputs]


def test_processes_on_a_new_store_create_each_job_once_and_claim_each_once(
    control_url: str, programs: Path
) -> None:
    workers = [(control_url, f"worker-{number}", "40") for number in range(PROCESSES)]
    lines = [
        line for output in run_together(programs / "claim_jobs.py", *workers) for line in output
    ]
    created = sorted(line for line in lines if line.startswith("created"))
    claimed = sorted(line for line in lines if line.startswith("claimed"))
    assert len(set(created)) == len(created) == 40
    assert [line.split()[1] for line in claimed] == [line.split()[1] for line in created]

    control = open_control(control_url, world="sandbox")
    assert {job.status for job in control.jobs(limit=99)} == {"running"}
    control.close()


def test_three_processes_together_never_exceed_the_rate(control_url: str, programs: Path) -> None:
    """Of all turns that are given at one moment, only the burst is for that moment."""
    rate_per_s, burst = 40.0, 5
    takers = [(control_url, "30", str(rate_per_s), str(burst))] * 3
    outputs = run_together(programs / "take_tokens.py", *takers)
    waits = sorted(float(wait) for lines in outputs for wait in lines)
    in_line = [number / rate_per_s for number in range(1, 90 - burst + 1)]
    assert waits == pytest.approx([0.0] * burst + in_line, abs=1e-6)


def test_no_number_is_given_twice_though_its_takers_are_killed(
    control_url: str, programs: Path
) -> None:
    acknowledged: list[int] = []
    for _ in range(2):
        counters = [
            subprocess.Popen(
                [sys.executable, programs / "count_up.py", control_url, "99999"],
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(3)
        ]
        for counter in counters:
            assert counter.stdout is not None
            acknowledged.append(int(counter.stdout.readline()))  # all of them are at work
        for counter in counters:
            counter.kill()
            with counter:
                assert counter.stdout is not None
                acknowledged += map(int, counter.stdout.read().split())
    control = open_control(control_url, world="sandbox")
    last = control.next_sequences([("music_list", "7000000000000000001")])[0]
    control.close()
    assert len(set(acknowledged)) == len(acknowledged)
    assert max(acknowledged) < last <= len(acknowledged) + 1 + 6  # each kill may hide one
