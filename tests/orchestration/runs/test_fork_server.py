"""Processes of the fork server: what they have loaded, and that they end with their parent."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pipelines import fork_server

PARENT = """
import os, sys
from pipelines import fork_server

fork_server.PRELOADED = "colorsys"

def serve(sender):
    fork_server.exit_with_parent()
    sender.send("colorsys" in sys.modules)
    while True:
        pass  # whatever it does

if __name__ == "__main__":
    receiver, sender = fork_server.fork_server_context().Pipe(duplex=False)
    fork_server.fork_server_context().Process(target=serve, args=(sender,)).start()
    print("loaded:", receiver.recv(), flush=True)
    os.kill(os.getpid(), 9)
"""


@pytest.mark.timeout(60)
def test_a_process_has_loaded_everything_and_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    program = tmp_path / "parent.py"
    program.write_text(PARENT)
    # The output ends when the last process is gone that could write to it.
    parent = subprocess.run([sys.executable, program], check=False, capture_output=True, text=True)
    assert (parent.returncode, parent.stdout) == (-9, "loaded: True\n"), parent.stderr


class Parent:
    """A parent that has ended already."""

    def join(self) -> None:
        pass


def test_a_process_exits_when_its_parent_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()
    monkeypatch.setattr("multiprocessing.parent_process", Parent)
    monkeypatch.setattr(os, "_exit", lambda _status: ended.set())
    fork_server.exit_with_parent()
    assert ended.wait(10)


def test_a_program_that_was_started_by_hand_watches_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("multiprocessing.parent_process", lambda: None)
    threads = threading.active_count()
    fork_server.exit_with_parent()
    assert threading.active_count() == threads
