"""The plan of a cluster on one machine: which processes, with which settings."""

import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from api.cli.commands.system.up import UpConfig, prepare_storage, programs
from api.cli.processes.child_processes import (
    LOOPBACK,
    ChildProcessGroup,
    Program,
    find_port,
    is_listening,
    sametrack_command,
)
from deploy.local.stores import ObjectStore, PostgresServer, RedisServer
from pipelines.orchestration.instance import dagster_environment
from pipelines.settings import Settings
from warehouse.home import open_home

CELERY_APP = "pipelines.orchestration.runs.celery_runs"
WORKER_LOST_AFTER_S = 10.0
"""A lost Celery worker is noticed in less than 15 s: this, and three looks 1 s apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterPlan:
    """A cluster in one folder. `latency_ms` delays every answer of the sandbox.

    `calendar`: with `today` the sandbox's numbers grow at every full hour, with `fixed` never.
    """

    folder: Path
    celery_workers: int = 3
    apis: int = 2
    seed: int = 7
    size: float = 0.3
    latency_ms: int = 0
    calendar: Literal["today", "fixed"] = "today"
    sound_cache: Path | None = None
    api_port: int = field(default_factory=find_port)
    dagster_port: int = field(default_factory=find_port)
    sandbox_port: int = field(default_factory=find_port)

    @property
    def logs(self) -> Path:
        """Folder of the logs."""
        return self.folder / "logs"


class Cluster:
    """The processes of a cluster; `start_stores` first, then supervise `programs`."""

    def __init__(self, plan: ClusterPlan) -> None:
        self.plan = plan
        self.postgres = PostgresServer(plan.folder / "postgres")
        self.redis = RedisServer(plan.logs)
        self.objects = ObjectStore(plan.logs)
        self.home = open_home(plan.folder / "home", "sandbox")
        settings = {name.lower(): value for name, value in self._settings().items()}
        self._dagster = dagster_environment(Settings.model_validate(settings), self.home)

    def start_stores(self, process_group: ChildProcessGroup) -> None:
        """Start PostgreSQL, Redis and the S3 server, and make what must be there to use them."""
        self.plan.logs.mkdir(parents=True, exist_ok=True)
        postgres = process_group.start(self.postgres.program())
        process_group.start(self.redis.program())
        objects = process_group.start(self.objects.program())
        self.postgres.create_databases(postgres)
        self.objects.create_bucket(objects)
        prepare_storage(process_group, logs=self.plan.logs, env=self.environment())

    def environment(self) -> dict[str, str]:
        """Return the settings of all processes, with what is no setting of ours."""
        return {
            **self._settings(),
            **self._dagster,
            "PYTHONUNBUFFERED": "1",
            **self.objects.environment(),
        }

    def _settings(self) -> dict[str, str]:
        plan = self.plan
        return {
            "PROFILE": "sandbox",
            "DATA_HOME": str(plan.folder / "home"),
            "SANDBOX_PORT": str(plan.sandbox_port),
            "SANDBOX_CALENDAR": plan.calendar,
            "API_PORT": str(plan.api_port),
            "CONTROL_URL": self.postgres.url("control", driver="postgresql+psycopg"),
            "DAGSTER_STORAGE_URL": self.postgres.url("dagster"),
            "CELERY_BROKER_URL": self.redis.url,
            "RUNS": "remote",
            "WORKER_RUNS": str(plan.celery_workers),
            "HEARTBEAT_S": "1",
            "WORKER_LOST_AFTER_S": f"{WORKER_LOST_AFTER_S:g}",
        }

    def programs(self) -> list[Program]:
        """Return all but the stores: what `sametrack up` starts, more APIs, Celery workers."""
        plan = self.plan
        up = UpConfig(
            profile="sandbox", world="sandbox", api_host=LOOPBACK, api_port=plan.api_port,
            dagster_port=plan.dagster_port, sandbox_port=None, seed=plan.seed, size=plan.size,
            calendar=plan.calendar, logs=plan.logs, dagster=self._dagster,
            run_dir=plan.folder, has_token=False,
        )  # fmt: skip
        found = [self._with_settings(program) for program in programs(up)]
        found.insert(0, self._sandbox())
        found += [self._api(number) for number in range(2, plan.apis + 1)]
        found += [self._celery_worker(number) for number in range(1, plan.celery_workers + 1)]
        return found

    def _sandbox(self) -> Program:
        plan = self.plan
        world = ("--seed", str(plan.seed), "--size", f"{plan.size:g}")
        cache = () if plan.sound_cache is None else ("--cache", str(plan.sound_cache))
        command = sametrack_command(
            "sandbox",
            *cache,
            *world,
            "--port",
            str(plan.sandbox_port),
            "--latency-ms",
            str(plan.latency_ms),
        )
        return self._program("sandbox", command, port=plan.sandbox_port)

    def _api(self, number: int) -> Program:
        port = find_port()
        return self._program(
            f"api-{number}", sametrack_command("serve", "--port", str(port)), port=port
        )

    def _celery_worker(self, number: int) -> Program:
        name = f"celery-{number}"
        command = [
            *(sys.executable, "-m", "celery", "-A", CELERY_APP, "worker", "--concurrency", "1"),
            *("--hostname", f"{name}@%h", "--without-gossip", "--without-mingle", "-l", "WARNING"),
        ]
        return self._program(name, command)

    def _program(self, name: str, command: list[str], *, port: int | None = None) -> Program:
        log = self.plan.logs / f"{name}.log"
        is_ready = None if port is None else lambda: is_listening(port)
        return self._with_settings(Program(name=name, command=command, log=log, is_ready=is_ready))

    def _with_settings(self, program: Program) -> Program:
        return replace(program, env={**(program.env or {}), **self.environment()})
