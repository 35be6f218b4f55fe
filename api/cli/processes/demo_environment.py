"""Environment of the demo: sandbox, service and worker on free ports, with a temporary data home.

It ignores the `.env` and the data of the user.
"""

import secrets
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import httpx2

from api.cli.processes import child_processes
from api.cli.terminal import err, safe
from api.services.evidence.excerpts import ReportEvidence, collect_report_evidence
from api.settings import ApiSettings
from warehouse.control import open_control
from warehouse.queries.results import read_result_document
from warehouse.records.errors import SametrackError
from warehouse.records.values import Document

if TYPE_CHECKING:
    from api.routes.dependencies import Services


# Keep the job and the tables of a demo, so that every read command has data after it.
#
# The job is kept without the key by which results are reused: a later scan of the same track is a
# scan, not the demo's result again.

WORLD = "sandbox"
"""World of demos, and its folder in a data home."""
_MARK = "world.json"
_FOLDERS = (Path("cache/excerpts"), Path("lake"))


def has_tables(data_home: Path) -> bool:
    """Return True if the sandbox below this data home has a lake."""
    return any((data_home / WORLD / "lake").glob("*/*/_delta_log"))


def keep_tables(source: Path, target: Path) -> bool:
    """Copy lake, excerpts and jobs of the sandbox from one data home to another.

    Returns False, and changes nothing, if the target has tables already: two demos are two worlds
    with the same ids. The mark comes last, so an interrupted copy is no home.

    Raises:
        SametrackError: The folder is not writable.
    """
    if has_tables(target):
        return False
    home = target / WORLD
    try:
        for folder in _FOLDERS:
            if (source / WORLD / folder).is_dir():
                # A rename at the end, so that an interrupted copy is not taken for a lake.
                copy = home / folder
                partial = copy.with_name(f"{copy.name}.partial")
                shutil.rmtree(partial, ignore_errors=True)
                shutil.copytree(source / WORLD / folder, partial)
                shutil.rmtree(copy, ignore_errors=True)
                partial.rename(copy)
        home.chmod(0o700)
        _copy_jobs(source / WORLD, home)
        shutil.copy2(source / WORLD / _MARK, home / _MARK)
    except (OSError, sqlite3.Error) as error:
        raise SametrackError(
            f"{target} cannot be written: {getattr(error, 'strerror', error)}"
        ) from error
    return True


def _copy_jobs(source: Path, home: Path) -> None:
    """Copy the jobs, and the capture numbers, so that new captures continue after the lake's."""
    database = home / "control.sqlite"
    open_control(f"sqlite:///{database}", world=WORLD).close()
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("attach ? as demo", (str(source / database.name),))
        with connection:
            for table in ("jobs", "sequences"):
                connection.execute(f"insert or ignore into {table} select * from demo.{table}")  # noqa: S608 -- names above
            # A later scan of the same track must not get the demo's result.
            connection.execute(
                "update jobs set scan_key = null where job_id in (select job_id from demo.jobs)"
            )


START_TIMEOUT_S = 300.0  # generous for a busy machine; a process that exits is reported at once
TRUTH_TIMEOUT_S = 60.0
POLL_INTERVAL_S = 0.1
TOKEN_BYTES = 16


class DemoProcessError(SametrackError):
    """A process of the demo did not start, or exited early."""

    type = "demo_process_ended"


class DemoEnvironment:
    """The three processes of a demo. `process_group` stops them; `home` is their data home."""

    def __init__(
        self,
        *,
        process_group: child_processes.ChildProcessGroup,
        home: Path,
        cache: Path,
        seed: int,
        size: float,
    ) -> None:
        self.token = secrets.token_urlsafe(TOKEN_BYTES)
        self._process_group = process_group
        self.held = process_group.held
        self._home = home
        self._cache = cache.resolve()
        self._seed, self._size = seed, size
        self._world_port, self._api_port = child_processes.find_port(), child_processes.find_port()
        self._children: list[child_processes.Child] = []

    @property
    def api_url(self) -> str:
        """Address of the service."""
        return f"http://{child_processes.LOOPBACK}:{self._api_port}"

    def set_up(self) -> None:
        """Start all three and wait until sandbox and service listen; the worker may still warm up.

        Raises:
            DemoProcessError: A process exited, or the ports did not open in time.
        """
        sandbox = child_processes.sametrack_command(
            *("sandbox", "--seed", str(self._seed), "--size", f"{self._size:g}"),
            *("--port", str(self._world_port), "--cache", str(self._cache)),
        )
        self._start("sandbox", sandbox)
        self._start("worker", child_processes.sametrack_command("worker"))
        self._start(
            "service", child_processes.sametrack_command("serve", "--port", str(self._api_port))
        )
        # The job waits for the worker, so only the ports of the other two are waited for.
        until = monotonic() + START_TIMEOUT_S
        while not (
            child_processes.is_listening(self._world_port)
            and child_processes.is_listening(self._api_port)
        ):
            self.look()
            if monotonic() > until:
                raise DemoProcessError("The sandbox or the service did not open its port in time")
            sleep(POLL_INTERVAL_S)

    def world(self, path: str) -> Document:
        """Read a control endpoint of the sandbox, for example `/_world/tracks`."""
        address = f"http://{child_processes.LOOPBACK}:{self._world_port}{path}"
        answer: Document = httpx2.get(address, timeout=TRUTH_TIMEOUT_S).json()
        return answer

    def gather_pairs(self, job: Document) -> ReportEvidence:
        """Return the compared pairs of a completed job, for its report."""
        with self._open_services() as services:
            assert services.evidence is not None, "the environment sets a profile"
            return collect_report_evidence(services.evidence, job)

    def read_confirmed(self, job_id: str) -> tuple[list[Document], list[Document]]:
        """Return all confirmed videos of a completed job, beyond its `count`, and its variants."""
        with self._open_services() as services:
            assert services.sources is not None, "the environment sets a profile"
            document = read_result_document(services.sources.engine, job_id)
        assert document is not None, "a completed job has a result"
        return document["ranked"], document["variants"]["aweme_list"]

    @contextmanager
    def _open_services(self) -> Iterator["Services"]:
        """Open the stores of the demo to read the results of the scan."""
        from api.process import open_services  # noqa: PLC0415 -- loads the service, 1.6 s

        values: dict[str, Any] = {  # text, which the settings convert to their types
            name.lower(): value
            for name, value in self._environment().items()
            if name.lower() in ApiSettings.model_fields
        }
        with open_services(ApiSettings(_env_file=None, **values)) as services:
            yield services

    def look(self) -> None:
        """Check that all processes are running.

        Raises:
            DemoProcessError: A process has exited.
        """
        for child in self._process_group.exited_children():
            self.show_logs(child.name)
            raise DemoProcessError(
                f"The {child.name} of the demo exited (exit code {child.exit_code()})",
                hint="the last lines of its log are above",
            )

    def show_logs(self, name: str) -> None:
        """Print the last log lines of a process."""
        for child in self._children:
            if child.name == name:
                lines = "\n".join(safe(line) for line in child.log_tail().splitlines())
                err.print(f"[dim]── {name}[/]\n{lines}", soft_wrap=True)

    def _start(self, name: str, command: list[str]) -> None:
        program = child_processes.Program(
            name=name,
            command=command,
            log=self._home / f"{name}.log",
            env=self._environment(),
        )
        self._children.append(self._process_group.start(program))

    def _environment(self) -> dict[str, str]:
        """Return all relevant settings, so that no `.env` in the working directory applies.

        An empty URL means the default in the data home.
        """
        return {
            "PROFILE": "sandbox",
            "PROFILE_PATCH": "",
            "DATA_HOME": str(self._home),
            "CONTROL_URL": "",
            "LAKE_URL": "",
            "DATA_PROVIDER": "vidplat-public",
            "MUSIC_DATA_PROVIDER": "public-graph",
            "SANDBOX_PORT": str(self._world_port),
            "SANDBOX_CALENDAR": "fixed",
            "OWN_API_TOKEN": self.token,
            "API_HOST": child_processes.LOOPBACK,
            "WORKER_RUNS": "1",
            "PYTHONUNBUFFERED": "1",
            "SAMETRACK_TRACE": "1",
        }
