"""What it costs to start: commands, the service, everything together, and its memory when idle."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psutil

from api.cli.processes.child_processes import find_port, is_listening
from benchmarks.speed.running import RowOutput, Workspace
from tests.deployment import wait_for

COMMANDS = (("--help", 0.5), ("jobs", 1.0), ("scan --help", 1.0))
"""A command and its aim in seconds of processor time."""
SETTLING_S = 15
"""Start-up work goes on after "ready"; idle memory is read when it is over."""
MEGABYTE = 1024 * 1024


def measure_start(space: Workspace) -> Iterator[RowOutput]:
    """Processor time of commands and of the service, the time of `up`, and idle memory."""
    folder = space.folder / "start"
    folder.mkdir(parents=True, exist_ok=True)
    settings = {
        **os.environ,
        "PROFILE": "sandbox",
        "DATA_HOME": str(folder / "home"),
        "API_PORT": str(find_port()),
        "PYTHONDONTWRITEBYTECODE": "",
    }
    for command, aim_s in COMMANDS:
        _spent(command, settings, folder)  # the first start writes bytecode
        spent_s = min(_spent(command, settings, folder) for _ in range(3))
        yield f"sametrack {command}, processor time", f"{spent_s:.2f} s", f"{aim_s} s"
    yield "starting the service"
    yield "service ready, processor time", f"{_service(settings, folder):.2f} s", "4 s"
    yield "starting everything"
    yield from _everything(settings, folder, space)


def _spent(command: str, settings: Mapping[str, str], folder: Path) -> float:
    process = psutil.Popen(
        [sys.executable, "-m", "api.cli.main", *command.split()],
        env=settings, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    _, _, usage = os.wait4(process.pid, 0)
    return usage.ru_utime + usage.ru_stime


def _service(settings: Mapping[str, str], folder: Path) -> float:
    with _started(["serve"], settings, folder) as process:
        wait_for(lambda: is_listening(int(settings["API_PORT"])))
        return _processor_s(process)


def _everything(
    settings: Mapping[str, str], folder: Path, space: Workspace
) -> Iterator[tuple[str, str, str]]:
    begun = time.monotonic()
    arguments = ["up", "--sandbox", "--dagster-port", "0", "--size", str(space.size)]
    with _started(arguments, settings, folder) as process:
        output = folder / "up.log"
        wait_for(lambda: "ready" in output.read_text(encoding="utf-8"))
        yield "sametrack up --sandbox ready", f"{time.monotonic() - begun:.1f} s", "25 s"
        time.sleep(SETTLING_S)
        processes = [process, *process.children(recursive=True)]
        memory = sum(one.memory_full_info().pss for one in processes) // MEGABYTE
        yield f"idle memory of {len(processes)} processes (PSS)", f"{memory} MB", "1,400 MB"


@contextmanager
def _started(
    arguments: list[str], settings: Mapping[str, str], folder: Path
) -> Iterator[psutil.Popen]:
    """A `sametrack` command in the background, ended with the block."""
    with (folder / f"{arguments[0]}.log").open("w", encoding="utf-8") as log:
        process = psutil.Popen(
            [sys.executable, "-m", "api.cli.main", *arguments],
            env=dict(settings), cwd=folder, stdout=log, stderr=log,
        )  # fmt: skip
        try:
            yield process
        finally:
            process.terminate()
            process.wait()


def _processor_s(process: psutil.Popen) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)
