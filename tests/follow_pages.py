"""`make follow-readme`: follow the pages as a newcomer would, in an empty clone of HEAD.

Every `sh` and `python` block of README, then those under "Five minutes" of each page of `docs/`, is
run verbatim and in order; `docs/testing.md` has the rule. A command with the remark "in its own
terminal" runs beside the others until the end and is stopped by Ctrl-C.

`make check`, which has just made an environment and runs the tests, lends the clone the first and
leaves `make test` out.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from api.cli.processes.child_processes import DAGSTER_PORT, is_listening
from api.settings import ApiSettings
from tests.house.page_examples import PAGES, ROOT, Example, blocks_of

SECTION = "Five minutes"
OWN_TERMINAL = "in its own terminal"
READY = "Ctrl-C stops all services"
READY_WITHIN_S, STOPPED_WITHIN_S, COMMAND_WITHIN_S = 300, 60, 3600
STATED = re.compile(r"# .*exit status (\d+)")
PORTS = {
    "API_PORT": ApiSettings.model_fields["api_port"].default,
    "SANDBOX_PORT": ApiSettings.model_fields["sandbox_port"].default,
    "--dagster-port": DAGSTER_PORT,
}
MADE_BY_ENV = (".venv", ".venv-tools", "api/client/answers.py", "api/client/blocking")
"""What `make env` makes in a clone, besides compiled loops."""
FOREIGN = re.compile(r"(DAGSTER_|PYTHON|PYTEST|SAMETRACK_|MAKE|MFLAGS|VIRTUAL_ENV|COVERAGE)")


class StepFailedError(Exception):
    """A page does not say what happened."""


def steps(root: Path) -> list[Example]:
    """Return the blocks to follow, README first."""
    found = []
    for page in PAGES:
        lines = (root / page).read_text(encoding="utf-8").splitlines()
        for block in blocks_of(page, root):
            headings = [line for line in lines[: block.line] if re.match(r"##+ ", line)]
            is_step = page == "README.md" or (headings and headings[-1] == f"## {SECTION}")
            if is_step and block.kind in {"sh", "python"}:
                found.append(block)
    return found


def commands_of(block: Example) -> list[str]:
    """Return the commands of a block, continued lines joined; a program is one command."""
    if block.kind == "python":
        return [block.text]
    lines = block.text.replace("\\\n", "\0").splitlines()
    return [line.replace("\0", "\\\n") for line in lines if line.strip()]


def stated_status(command: str) -> int:
    """Return the exit status that the page states in a remark; 0 without one."""
    stated = STATED.search(command)
    return int(stated[1]) if stated else 0


def lend_environment(clone: Path) -> None:
    """Link what `make env` has made here into a clone, where it is up to date."""
    for name in MADE_BY_ENV:
        (clone / name).symlink_to(ROOT / name)
    for name in ("requirements.lock", "pyproject.toml"):
        os.utime(clone / name, (0, 0))  # new files would make `make` install anew
    for source in ROOT.glob("pipelines/audio/*/kernels.py"):
        # numba takes a compiled loop for current while time and size of its source are the same
        copy = clone / source.relative_to(ROOT)
        shutil.copystat(source, copy)
        (copy.parent / "__pycache__").mkdir()
        for loop in source.parent.glob("__pycache__/kernels.*.nb[ci]"):
            shutil.copy(loop, copy.parent / "__pycache__")


class Newcomer:
    """Follows blocks in a clone, as in one terminal, with further ones where the page says so."""

    def __init__(self, clone: Path, *, today: str | None, is_without_tests: bool) -> None:
        names = {name.upper() for name in ApiSettings.model_fields}
        self.clone = clone
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if name not in names and not FOREIGN.match(name)
        }
        # curl ends with a failure if the answer is one; what is typed stays as on the page
        (clone.parent / ".curlrc").write_text("fail-with-body\nsilent\nshow-error\n")
        self.environment["CURL_HOME"] = str(clone.parent)
        if today is not None:
            self.environment["SANDBOX_CALENDAR"] = today
        self._is_without_tests = is_without_tests
        self._beside: list[tuple[str, subprocess.Popen[str], Path]] = []

    def follow(self, block: Example) -> None:
        """Run the commands of a block.

        Raises:
            StepFailedError: One of them ended with a status that the page does not state.
        """
        for command in commands_of(block):
            if self._is_without_tests and command.startswith("make test"):
                print("    left out: make test, which make check runs beside", flush=True)
            elif OWN_TERMINAL in command:
                self._open_terminal(command)
            else:
                self._run(command, kind=block.kind)

    def _run(self, command: str, *, kind: str) -> None:
        program = [".venv/bin/python", "-c"] if kind == "python" else ["bash", "-c"]
        done = subprocess.run(
            [*program, command], cwd=self.clone, env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            timeout=COMMAND_WITHIN_S, check=False,
        )  # fmt: skip
        if done.returncode != stated_status(command):
            raise StepFailedError(f"exit status {done.returncode}: {command}\n{done.stdout}")

    def _open_terminal(self, command: str) -> None:
        log = self.clone.parent / f"terminal-{len(self._beside) + 1}.log"
        with log.open("w") as stream:
            process = subprocess.Popen(
                ["bash", "-c", f"exec {command}"], cwd=self.clone, env=self.environment, text=True,
                stdout=stream, stderr=stream, stdin=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
        self._beside.append((command, process, log))
        until = time.monotonic() + READY_WITHIN_S
        while READY not in log.read_text():
            if process.poll() is not None or time.monotonic() > until:
                raise StepFailedError(f"not ready: {command}\n{log.read_text()}")
            time.sleep(0.2)

    def stop(self) -> None:
        """Press Ctrl-C in the further terminals.

        Raises:
            StepFailedError: A command failed, or left processes or ports behind.
        """
        problems = []
        for command, process, log in self._beside:
            is_running = process.poll() is None
            family = psutil.Process(process.pid).children(recursive=True) if is_running else []
            process.send_signal(signal.SIGINT)
            try:
                process.wait(STOPPED_WITHIN_S)
            except subprocess.TimeoutExpired:
                problems.append(f"not stopped by Ctrl-C: {command}")
                os.killpg(process.pid, signal.SIGKILL)
            _, left = psutil.wait_procs(family, timeout=5)
            problems += [f"left behind by {command}: {child}" for child in left]
            if process.returncode not in {0, 130}:
                problems.append(f"exit status {process.returncode}: {command}\n{log.read_text()}")
        problems += ports_in_use()
        if problems:
            raise StepFailedError("\n".join(problems))


def ports_in_use() -> list[str]:
    """Return what is wrong with the ports that pages name."""
    return [
        f"port {port} ({name}) is in use: the pages name it, so stop the program on it"
        for name, port in PORTS.items()
        if is_listening(port)
    ]


@contextmanager
def timed(what: object) -> Iterator[None]:
    """Print what is done, and how long it took."""
    print(f"{what}", flush=True)
    begun = time.monotonic()
    yield
    print(f"    {time.monotonic() - begun:.1f} s", flush=True)


def follow(newcomer: Newcomer) -> None:
    """Follow all pages, then stop what runs.

    Raises:
        StepFailedError: A page does not say what happened.
    """
    try:
        for block in steps(newcomer.clone):
            with timed(f"{block}: {commands_of(block)[0].splitlines()[0]}"):
                newcomer.follow(block)
    finally:
        with timed("Ctrl-C"):
            newcomer.stop()


def main() -> int:
    """Follow the pages; return 1 if one of them is wrong."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--today", help="day on which the sandbox ends, as in 2026-02-28")
    reader.add_argument(
        "--in-check",
        action="store_true",
        help="without `make test`, with the environment of here",
    )
    given = reader.parse_args()
    if problems := ports_in_use():
        print("\n".join(problems), file=sys.stderr)
        return 1
    if subprocess.run(["git", "diff", "--quiet", "HEAD"], cwd=ROOT, check=False).returncode:
        print("HEAD is followed; changes that are not committed are not in it", flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what was started is stopped then, too
    with tempfile.TemporaryDirectory(prefix="sametrack-pages-") as folder:
        clone = Path(folder) / "sametrack"
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        if given.in_check:
            lend_environment(clone)
        newcomer = Newcomer(clone, today=given.today, is_without_tests=given.in_check)
        try:
            follow(newcomer)
        except StepFailedError as error:
            print(f"\n{error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
