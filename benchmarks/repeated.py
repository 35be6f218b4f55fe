"""The quick tests again and again while other processes keep every core busy.

Each run has an order of its own, printed as a seed. Ends with status 1 if a run fails; the rest of
the runs are made all the same. `make test-busy` calls it.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

# ends with whoever started it, also when that one is killed
BUSY = "import os; parent = os.getppid()\nwhile os.getppid() == parent: pass"
PYTEST = ("-m", "pytest", "-q", "--numprocesses", "3", "--dist", "loadfile")
ORDERED = ("--no-loadscope-reorder", "-m", "quick", "--randomly-seed")
SHOWN = ("FAILED", "ERROR")


@contextmanager
def busy_cores() -> Iterator[int]:
    """Keep every core busy with one process each; yields their number."""
    cores = os.cpu_count() or 1
    children = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(cores)]
    try:
        yield cores
    finally:
        for child in children:
            child.kill()
            child.wait()


def run_once(seed: int) -> tuple[bool, list[str]]:
    """Run the quick tests in the order of a seed; returns whether all passed, and what to show."""
    command = [sys.executable, *PYTEST, *ORDERED, str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    result = next((line for line in reversed(lines) if " passed" in line or " failed" in line), "")
    return done.returncode == 0, [result.strip("= "), *(x for x in lines if x.startswith(SHOWN))]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1, help="seed of the first run")
    asked = parser.parse_args()
    green = 0
    with busy_cores() as cores:
        print(f"{asked.runs} runs while {cores} processes keep {cores} cores busy", flush=True)
        for run, seed in enumerate(range(asked.seed, asked.seed + asked.runs), 1):
            start = time.monotonic()
            is_green, shown = run_once(seed)
            green += is_green
            at = time.strftime("%H:%M:%S")
            print(f"{at} run {run}, order {seed}, {time.monotonic() - start:.0f} s:", shown[0])
            print(*(f"  {line}" for line in shown[1:]), sep="\n", end="", flush=True)
    print(f"{green} of {asked.runs} runs without a failure")
    return 0 if green == asked.runs else 1


if __name__ == "__main__":
    raise SystemExit(main())
