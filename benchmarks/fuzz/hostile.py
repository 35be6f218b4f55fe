"""`make fuzz-hostile`: every bomb, one after another in this process, with its cost.

A bomb ends with records or a named error, needs at most `MORE_MB` more memory than before, and at
most `LONGEST_S` of processor time. The peak is that of the kernel, set back before each.
"""

import argparse
import ctypes
import gc
import resource
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.fuzz.bombs import LONGEST_S, MORE_MB, Bomb, bombs
from warehouse.records.errors import SametrackError

ADDRESS_SPACE_MB = 6_000
ALARM_S = 300
console = Console(width=140)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a bomb did: its outcome, peak memory and processor time."""

    bomb: Bomb
    outcome: str
    more_mb: float
    seconds: float

    @property
    def problem(self) -> str:
        """What does not hold; empty for nothing."""
        if self.outcome.startswith("BROKEN"):
            return self.outcome
        if self.more_mb > MORE_MB:
            return f"{self.more_mb:.0f} MB more"
        return f"{self.seconds:.0f} s" if self.seconds > LONGEST_S else ""


def measure(bomb: Bomb) -> Cost:
    """Let one bomb go off."""
    body = bomb.make()
    _forget_peak()
    before = _status_mb("VmRSS")
    began = time.process_time()
    signal.alarm(ALARM_S)
    outcome = _outcome(bomb, body)
    signal.alarm(0)
    spent_s = time.process_time() - began
    return Cost(bomb, outcome, max(0.0, _status_mb("VmHWM") - before), spent_s)


def run(chosen: Sequence[Bomb]) -> list[Cost]:
    """Measure bombs; the first of each reader goes off twice, because it loads libraries."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE_MB << 20, resource.RLIM_INFINITY))
    signal.signal(signal.SIGALRM, _too_long)
    costs: list[Cost] = []
    for bomb in chosen:
        if not costs or costs[-1].bomb.reader != bomb.reader:
            measure(bomb)
        costs.append(measure(bomb))
        if costs[-1].problem:
            console.print(f"{bomb}: {costs[-1].problem}", markup=False)
    return costs


def _outcome(bomb: Bomb, body: bytes) -> str:
    try:
        bomb.read(body)
    except SametrackError as error:
        reason = getattr(error, "reason", None)
        return f"{error.type} ({reason})" if reason else error.type
    except BaseException as error:  # noqa: BLE001 -- whatever comes is what is looked for
        return f"BROKEN {type(error).__name__}: {str(error)[:100]}"
    return "read"


def _too_long(_number: int, _frame: object) -> None:
    raise TimeoutError("too long")


def _forget_peak() -> None:
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _status_mb(name: str) -> float:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(name):
            return int(line.split()[1]) / 1024
    raise AssertionError(name)


def main() -> int:
    """Measure all bombs, or those whose name holds a text; 1 if one breaks a promise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="bombs whose name holds this text")
    options = parser.parse_args()
    costs = run([bomb for bomb in bombs() if options.only in str(bomb)])
    table = Table("reader", "bombs", "most memory", "most time", "broken promises")
    for reader in dict.fromkeys(cost.bomb.reader for cost in costs):
        own = [cost for cost in costs if cost.bomb.reader == reader]
        table.add_row(
            reader, str(len(own)), f"{max(one.more_mb for one in own):.0f} MB",
            f"{max(one.seconds for one in own):.1f} s",
            str(sum(bool(one.problem) for one in own)),
        )  # fmt: skip
    console.print(table)
    return 1 if any(cost.problem for cost in costs) else 0


if __name__ == "__main__":
    sys.exit(main())
