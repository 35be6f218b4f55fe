"""What is stopped and removed when a parent was killed, and what is not when it ended well."""

import io
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest

from api.cli.processes.parent_watchdog import main, read_registered, signal_group, terminate_groups

STUBBORN = (
    "import signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    "print('ready', flush=True); signal.pause()"
)
OBEDIENT = "import signal; print('ready', flush=True); signal.pause()"


def said(*lines: str) -> Callable[[], str]:
    """The lines that a parent wrote before its end."""
    turn = iter(f"{line}\n" for line in lines)
    return lambda: next(turn, "")


def test_watchdog_stops_processes_and_folders_still_registered() -> None:
    lines = said("+12", "+34", "~/a folder", "-12", "~/b", "unknown", "-56")
    assert read_registered(lines) == ({34}, ["/a folder", "/b"])


def test_watchdog_does_nothing_after_an_orderly_end() -> None:
    assert read_registered(said("+12", "~/a", "done")) == (set(), [])


@pytest.mark.parametrize(
    ("code", "grace_s", "ended_by"),
    [(OBEDIENT, 3600.0, signal.SIGTERM), (STUBBORN, 0.0, signal.SIGKILL)],
)
def test_a_group_is_asked_to_end_and_then_killed(code: str, grace_s: float, ended_by: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-S", "-c", code], stdout=subprocess.PIPE, start_new_session=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        waiting = Thread(target=child.wait)  # a group that nobody waits for seems to be alive
        waiting.start()
        terminate_groups({child.pid}, grace_s=grace_s)
        waiting.join()
        assert child.returncode == -ended_by
    assert not signal_group(child.pid, 0)


def test_a_group_that_is_gone_costs_no_time() -> None:
    with subprocess.Popen([sys.executable, "-S", "-c", ""], start_new_session=True) as child:
        child.wait()
    terminate_groups({child.pid}, grace_s=3600)
    assert not signal_group(child.pid, 0)


def test_watchdog_ignores_stop_signals_and_removes_registered_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ignored: list[int] = []
    monkeypatch.setattr(signal, "signal", lambda number, _: ignored.append(number))
    monkeypatch.setattr("sys.stdin", io.StringIO(f"~{tmp_path / 'kept'}\n~{tmp_path / 'none'}\n"))
    (tmp_path / "kept" / "more").mkdir(parents=True)
    main()
    assert not (tmp_path / "kept").exists()
    assert {signal.SIGINT, signal.SIGTERM, signal.SIGHUP} == set(ignored)
