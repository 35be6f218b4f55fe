"""A process that is forked from another one ends with the one that asked for it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from pipelines.forked_processes import PRELOADED

PATIENCE_S = 240.0  # a machine may be busy with other things; a test may take 600
SLEEP = "import time; time.sleep(600)"
FOLLOW = f"""
import sys
from pipelines.forked_processes import exit_with
exit_with(int(sys.argv[1]))
print("follows", flush=True)
{SLEEP}
"""

FORK = """
import multiprocessing, os, signal, sys
from multiprocessing import forkserver
from pathlib import Path
from pipelines import forked_processes

def tell(pipe):
    ends_on_sigterm = signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    loaded = [name in sys.modules for name in ("decimal", "colorsys")]
    pipe.send((os.getppid(), loaded, ends_on_sigterm))

def ask():
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = forked_processes.forking_context().Process(target=tell, args=(sender,))
    process.start()
    sender.close()
    found = receiver.recv()
    process.join()
    assert process.exitcode == 0
    return found

if __name__ == "__main__":
    forked_processes.PRELOADED = "colorsys"
    import decimal
    forked_processes.fork_server_here()
    server, loaded, ends_on_sigterm = ask()
    print(loaded, ends_on_sigterm)
    os.kill(server, signal.SIGTERM)
    print(ask()[0] == server)
    if "kill" in sys.argv:
        os.kill(os.getpid(), signal.SIGKILL)
    os.kill(server, signal.SIGKILL)
    os.waitid(os.P_PID, server, os.WEXITED | os.WNOWAIT)
    other, loaded, _ = ask()
    print(other != server, loaded)
"""


def test_a_process_ends_with_its_owner_although_that_is_not_its_parent() -> None:
    owner = subprocess.Popen([sys.executable, "-c", SLEEP])
    with subprocess.Popen(
        [sys.executable, "-c", FOLLOW, str(owner.pid)], stdout=subprocess.PIPE, text=True
    ) as follower:
        assert follower.stdout is not None
        try:
            assert follower.stdout.readline() == "follows\n"
            assert follower.poll() is None
        finally:
            owner.kill()
        # Nobody has waited for it yet: it is gone, but its entry is still there.
        assert follower.wait(PATIENCE_S) == 1
    owner.wait(PATIENCE_S)


def test_the_module_that_is_loaded_before_a_fork_exists() -> None:
    """`multiprocessing` says nothing if it does not: each process would load everything itself."""
    assert find_spec(PRELOADED) is not None


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder whose path is short enough for a socket, wherever the tests have theirs."""
    with TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


def _fork(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the script; returns when the server, which has its stdout, has ended, too."""
    script = folder / "fork.py"
    script.write_text(FORK, encoding="utf-8")
    return subprocess.run(
        [sys.executable, str(script), *words], capture_output=True, text=True, timeout=PATIENCE_S,
        check=False, env={**os.environ, "PYTHONPATH": str(Path.cwd()), "TMPDIR": str(folder)},
    )  # fmt: skip


def test_processes_share_what_the_one_that_starts_them_has_loaded(short: Path) -> None:
    """SIGTERM does not end it. When it is killed, a new Python process loads everything anew."""
    done = _fork(short)
    assert done.stdout.splitlines() == [
        "[True, True] True", "True", "True [False, True]",
    ], done.stderr  # fmt: skip


def test_the_socket_of_a_killed_worker_is_removed(short: Path) -> None:
    done = _fork(short, "kill")
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert [path.name for path in short.iterdir()] == ["fork.py"]


def test_a_long_path_of_the_temporary_folder_is_no_hindrance(tmp_path: Path) -> None:
    deep = tmp_path / ("deep" * 25)
    deep.mkdir()
    done = _fork(deep, "kill")
    assert done.stdout.splitlines() == ["[True, True] True", "True"], done.stderr
