"""The loop of the process that runs statements, in this process: it ends with its parent, and
limits its memory only where the system says how much it has.
"""

import os
import queue
import socket
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from api.services.sql import query_process
from api.services.sql.query_process import Statement
from warehouse.lake.store import open_lake


class ThreadAtOnce:
    """A thread that has ended when it was started."""

    def __init__(self, *, target: Callable[..., None], args: tuple[Any, ...], daemon: bool) -> None:
        assert daemon
        self.start = lambda: target(*args)


class FakeSystem:
    """What the process does to itself; nothing happens to this one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.exits: list[int] = []
        self.limits: list[tuple[int, tuple[int, int]]] = []
        system = SimpleNamespace(_exit=self.exits.append)
        limits = SimpleNamespace(
            RLIMIT_DATA=2, setrlimit=lambda kind, limit: self.limits.append((kind, limit))
        )
        monkeypatch.setattr(query_process, "os", system)
        monkeypatch.setattr(query_process, "resource", limits)
        monkeypatch.setattr(query_process, "threading", SimpleNamespace(Thread=ThreadAtOnce))


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> FakeSystem:
    return FakeSystem(monkeypatch)


def test_statements_are_answered_in_turn_and_a_fault_ends_nothing(
    system: FakeSystem, tmp_path: Path
) -> None:
    lake = open_lake(str(tmp_path / "lake"), world="sandbox")
    order = {"lake_url": lake.url, "world": "sandbox", "memory_mb": 256, "idle_s": 0}
    ours, theirs = socket.socketpair()
    with Connection(os.dup(ours.fileno())) as parent, ours:
        for sql in ("select nothing from marts.rankings", "select 41 + 1 as n"):
            parent.send_bytes(Statement(sql).to_json())
        ours.shutdown(socket.SHUT_WR)  # as if the parent ended now
        query_process.main(theirs.detach(), orjson.dumps(order))
        assert parent.recv_bytes() == query_process.READY
        fault = orjson.loads(parent.recv_bytes())["fault"]
        assert (fault["failure"], "nothing" in fault["detail"]) == ("invalid", True)
        assert orjson.loads(parent.recv_bytes())["summary"]["row_count"] == 1
        assert orjson.loads(parent.recv_bytes()) == [[42]]
        assert not parent.poll(), "a statement has one answer"
    assert system.exits == [0]


def test_the_memory_that_it_has_already_is_no_part_of_its_limit(
    system: FakeSystem, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    status = tmp_path / "status"
    status.write_text("Name:\tpython\nVmPeak:\t 9 kB\nVmData:\t 1000 kB\n", encoding="ascii")
    monkeypatch.setattr(query_process, "_STATUS", status)
    query_process._limit_memory(5)
    limit = 1_024_000 + 10_000_000
    assert system.limits == [(2, (limit, limit))]


def test_statement_process_has_no_memory_limit_if_the_memory_is_unknown(
    system: FakeSystem, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(query_process, "_STATUS", tmp_path / "none")
    query_process._limit_memory(5)
    assert system.limits == []


def test_a_broken_connection_ends_the_process_at_once(system: FakeSystem) -> None:
    class Broken:
        def recv_bytes(self) -> bytes:
            raise OSError("connection reset")

    broken: Any = Broken()
    query_process._receive(broken, queue.SimpleQueue())
    assert system.exits == [0]
