"""The process that runs statements of users, started with `python -m`.

It reads only the lake. Whoever waits for it ends it when a statement takes too long, so nothing
here measures time. It ends by itself when it has nothing to do, or when its parent is gone.
"""

import os
import queue
import resource
import sys
import threading
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

import orjson

from api.services.sql.execution import answer_statement
from api.services.sql.statement import Statement, StatementAnswer
from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.reading import open_lake_for_reading
from warehouse.records.errors import SametrackError

READY = b"ready"
_NICENESS = 10  # statements of people come after the requests of everybody else
_STATUS = Path("/proc/self/status")


def main(descriptor: int, order: bytes) -> None:
    """Answer statements that come through a connection.

    Args:
        descriptor: File descriptor of the connection to the parent.
        order: `lake_url`, `world`, `memory_mb` and `idle_s` as JSON.
    """
    os.nice(_NICENESS)
    connection = Connection(descriptor)
    given = orjson.loads(order)
    open_engine = partial(_open_engine, given["lake_url"], given["world"], given["memory_mb"])
    try:
        engine = open_engine(None)
    except SametrackError as error:
        connection.send_bytes(error.detail.encode())
        return
    _limit_memory(given["memory_mb"])
    statements: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(connection, statements), daemon=True).start()
    connection.send_bytes(READY)
    with suppress(queue.Empty):
        while True:
            answer = answer_statement(
                engine, open_engine, Statement.of_json(statements.get(timeout=given["idle_s"]))
            )
            if isinstance(answer, StatementAnswer):
                connection.send_bytes(orjson.dumps({"summary": asdict(answer.summary)}))
                connection.send_bytes(answer.body)
            else:
                connection.send_bytes(orjson.dumps({"fault": asdict(answer)}))


def _receive(connection: Connection, statements: "queue.SimpleQueue[bytes]") -> None:
    """Take statements in; without a parent, end at once, whatever runs."""
    try:
        while True:
            statements.put(connection.recv_bytes())
    except (EOFError, OSError):
        os._exit(0)


def _open_engine(lake_url: str, world: str, memory_mb: int, as_of: datetime | None) -> Engine:
    return Engine(
        open_lake_for_reading(lake_url, world=world),
        as_of=as_of,
        memory_limit=f"{memory_mb}MB",
        spill_limit=f"{2 * memory_mb}MB",
    )


def _limit_memory(memory_mb: int) -> None:
    """Let the process grow by twice the limit, for what the database does not count.

    Only where the system tells how much memory a process has.
    """
    if not _STATUS.exists():
        return
    lines = _STATUS.read_text(encoding="ascii").splitlines()
    used = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData:"))
    limit = used + 2 * memory_mb * 1_000_000
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2].encode())
