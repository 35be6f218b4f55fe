"""Keep captures of 5 items as a scan does, until standard input ends; prints each one's number.

Usage: keep_capturing.py DATA_HOME
"""

import sqlite3
import sys
import threading
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from warehouse.control import captures, open_control
from warehouse.home import open_home
from warehouse.lake.store import open_lake

home = open_home(Path(sys.argv[1]), "sandbox")
lake = open_lake(home.lake_url, world="sandbox")
is_over = threading.Event()


def listen() -> None:
    sys.stdin.read()
    is_over.set()


threading.Thread(target=listen, daemon=True).start()
with (
    closing(open_control(home.control_url, world="sandbox")) as control,
    closing(sqlite3.connect(home.dagster_dir / "runs.db")) as runs,
):
    runs.execute("pragma journal_mode=wal")
    runs.execute("create table if not exists runs (number integer, twin integer)")
    while not is_over.is_set():
        number = captures.next_numbers(control, [("music_list", "12345")])[0]
        about = {
            "capture_id": f"capture-{number}",
            "surface": "music_list",
            "entity_id": "12345",
            "sequence": number,
        }
        items = [
            {**about, "position": n, "aweme_id": str(7_000_000_000_000_000_000 + n)}
            for n in range(5)
        ]
        lake.append("raw.capture_items", items)
        now = datetime.now(UTC)
        row = {
            **about, "outcome": "ok", "request_count": 1, "item_count": 5, "observed_at": now,
            "data_provider": "public-graph", "source_path": "/list", "parser_version": "test-1",
            "cursor_in": 0, "cursor_out": None, "has_more": False, "http_status": 200,
            "job_id": None, "payload_sha256": None, "reason": None, "notice": None,
            "detail_msg": None,
        }  # fmt: skip
        lake.append("raw.captures", [row])
        with runs:
            runs.execute("insert into runs values (?, null)", (number,))
            runs.execute("update runs set twin = number where twin is null")
        print(number, flush=True)
