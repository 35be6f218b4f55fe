"""A process that is forked from another one ends with the one that asked for it."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

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
from pathlib import Path
from pipelines import forked_processes

def tell(pipe):
    pipe.send((os.getppid(), "decimal" in sys.modules, "colorsys" in sys.modules))

def ask():
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = forked_processes.forking_context().Process(target=tell, args=(sender,))
    process.start()
    sender.close()
    found = receiver.recv()
    process.join()
    return found, process.exitcode

if __name__ == "__main__":
    forked_processes.PRELOADED = "colorsys"
    import decimal
    forked_processes.fork_server_here()
    (server, has_own, has_preloaded), code = ask()
    print(has_own, has_preloaded, code)
    os.kill(server, signal.SIGKILL)
    os.waitid(os.P_PID, server, os.WEXITED | os.WNOWAIT)
    (other, has_own, has_preloaded), code = ask()
    print(other != server, has_own, has_preloaded, code)
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


def test_processes_share_what_the_one_that_starts_them_has_loaded(tmp_path: Path) -> None:
    """A server that has ended is replaced by a new Python process, which loads everything anew."""
    script = tmp_path / "fork.py"
    script.write_text(FORK, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=PATIENCE_S,
        check=True, env={**os.environ, "PYTHONPATH": str(Path.cwd())},
    )  # fmt: skip
    assert done.stdout.splitlines() == ["True True 0", "True False True 0"], done.stderr
