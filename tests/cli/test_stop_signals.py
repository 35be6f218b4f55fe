"""Stop signals of a command with children: at once, or when it is safe; and the end of a log."""

import signal
import subprocess
from pathlib import Path
from typing import cast

import pytest

from api.cli.interrupts import Interrupted
from api.cli.processes.child_processes import LOG_TAIL_LINES, Child, Program, StopSignals


def test_a_signal_interrupts_at_once() -> None:
    with StopSignals(), pytest.raises(Interrupted) as stop:
        signal.raise_signal(signal.SIGHUP)
    assert stop.value.number == signal.SIGHUP


def hold_twice(signals: StopSignals, reached: list[str]) -> None:
    """A signal arrives in the inner one of two blocks."""
    with signals.held():
        with signals.held():
            signal.raise_signal(signal.SIGHUP)
            reached.append("inner")
        reached.append("outer")
    reached.append("after")


def test_a_signal_in_a_held_block_interrupts_at_the_end_of_the_outermost_one() -> None:
    reached: list[str] = []
    with StopSignals() as signals, pytest.raises(Interrupted) as stop:
        hold_twice(signals, reached)
    assert reached == ["inner", "outer"]
    assert stop.value.number == signal.SIGHUP


def test_signals_are_ignored_while_children_are_stopped_and_then_as_before() -> None:
    before = signal.getsignal(signal.SIGHUP)
    with StopSignals() as signals:
        signals.ignore()
        signal.raise_signal(signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) != before
    assert signal.getsignal(signal.SIGHUP) == before


def child_with(log: Path | None) -> Child:
    program = Program(name="worker", command=["worker"], log=log)
    return Child(program, cast("subprocess.Popen[bytes]", None))


def test_a_child_without_a_log_has_no_last_lines(tmp_path: Path) -> None:
    assert child_with(None).log_tail() == ""
    assert child_with(tmp_path / "never-written.log").log_tail() == ""


def test_the_last_lines_of_a_log_are_shown_even_if_one_is_no_text(tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    lines = [f"line {number}".encode() for number in range(30)]
    log.write_bytes(b"\n".join([*lines, b"\xff"]))
    shown = child_with(log).log_tail().splitlines()
    assert len(shown) == LOG_TAIL_LINES
    assert shown[-2:] == ["line 29", "\N{REPLACEMENT CHARACTER}"]
