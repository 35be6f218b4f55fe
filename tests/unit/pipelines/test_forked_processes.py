"""A process that is forked from another one ends with the one that asked for it."""

import subprocess
import sys
from importlib.util import find_spec

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
