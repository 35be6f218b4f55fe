"""A command with a household: one child that has a child of its own. Tests kill it."""

import json
import sys
import time
from pathlib import Path

from api.cli.processes.child_processes import ChildProcessGroup, Program

CHILD = """
import subprocess, sys, time, signal
if sys.argv[1] == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
inner = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
print(inner.pid, flush=True)
time.sleep(300)
"""


def main(kind: str, log: Path, folder: Path) -> None:
    """Start, tell the process ids, wait to be stopped."""
    with ChildProcessGroup(grace_s=1.0) as process_group:
        process_group.remove_on_kill(folder)
        child = process_group.start(
            Program(name="child", command=[sys.executable, "-c", CHILD, kind], log=log)
        )
        while not log.read_text().strip():
            time.sleep(0.02)
        grandchild = json.loads(log.read_text())["message"]
        print(child.process.pid, grandchild, flush=True)
        time.sleep(300)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
