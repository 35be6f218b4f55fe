"""Many processes on one control store, on SQLite and on PostgreSQL."""

from pathlib import Path

import pytest

from tests.warehouse.parallel_programs import kill_all, run_together, start_together
from warehouse.control import captures, jobs, open_control

pytestmark = pytest.mark.full

CONTROL = "warehouse.control"
PROCESSES = 4  # `make load` has 200 users and 10 jobs
on_both_in_soak = pytest.mark.parametrize(
    "control_url", ["sqlite", pytest.param("postgresql", marks=pytest.mark.soak)], indirect=True
)


@on_both_in_soak
def test_processes_on_a_new_store_create_each_job_once_and_claim_each_once(
    control_url: str, programs: Path
) -> None:
    workers = [(control_url, f"worker-{number}", "40") for number in range(PROCESSES)]
    lines = run_together(CONTROL, programs / "claim_jobs.py", *workers)
    created = sorted(line for line in lines if line.startswith("created"))
    claimed = sorted(line for line in lines if line.startswith("claimed"))
    assert len(set(created)) == len(created) == 40
    assert [line.split()[1] for line in claimed] == [line.split()[1] for line in created]

    control = open_control(control_url, world="sandbox")
    assert {job.status for job in jobs.newest(control, limit=99)} == {"running"}
    control.close()


@on_both_in_soak
def test_three_processes_together_never_exceed_the_rate(control_url: str, programs: Path) -> None:
    """Of all turns that are given at one moment, only the burst is for that moment."""
    rate_per_s, burst = 40.0, 5
    takers = [(control_url, "30", str(rate_per_s), str(burst))] * 3
    waits = sorted(map(float, run_together(CONTROL, programs / "take_tokens.py", *takers)))
    in_line = [number / rate_per_s for number in range(1, 90 - burst + 1)]
    assert waits == pytest.approx([0.0] * burst + in_line, abs=1e-6)


@on_both_in_soak
def test_no_number_is_given_twice_though_its_takers_are_killed(
    control_url: str, programs: Path
) -> None:
    acknowledged: list[int] = []
    for _ in range(2):
        counters = [(control_url, "99999", f"counter-{number}") for number in range(3)]
        running = start_together(CONTROL, programs / "count_up.py", counters)
        assert running.stdout is not None
        at_work: set[str] = set()
        while len(at_work) < 3:
            name, number = running.stdout.readline().split()
            at_work.add(name)
            acknowledged.append(int(number))
        acknowledged += [int(line.split()[1]) for line in kill_all(running).splitlines()]
    control = open_control(control_url, world="sandbox")
    last = captures.next_numbers(control, [("music_list", "7000000000000000001")])[0]
    control.close()
    assert len(set(acknowledged)) == len(acknowledged)
    assert max(acknowledged) < last <= len(acknowledged) + 1 + 6  # each kill may hide one
