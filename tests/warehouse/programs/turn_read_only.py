"""Write to a home, take its permissions to write away and give them back; print what happened.

Usage: turn_read_only.py DATA_HOME. Of a home without permission to write, the lines are what an
append and an opened control store fail with, and what readiness says.
"""

import sys
from pathlib import Path

from api.server.health import probe_writable
from warehouse.control import open_control
from warehouse.home import open_home
from warehouse.lake.store import open_lake
from warehouse.records.errors import WarehouseError

home = open_home(Path(sys.argv[1]), "sandbox")
lake = open_lake(home.lake_url, world="sandbox")


def permit(mode: int) -> None:
    for path in [home.root, *home.root.rglob("*")]:
        path.chmod(path.stat().st_mode & ~0o222 | mode)


def append(name: str) -> None:
    row = {
        "capture_id": name, "position": 0, "surface": "music_list", "entity_id": "1",
        "sequence": 1, "aweme_id": "1",
    }  # fmt: skip
    lake.append("raw.capture_items", [row])


open_control(home.control_url, world="sandbox").close()
append("before")
permit(0)
try:
    for attempt in (
        lambda: append("meanwhile"),
        lambda: open_control(home.control_url, world="sandbox"),
    ):
        try:
            attempt()
        except WarehouseError as error:
            print(error.type, error.detail, error.hint, sep=" | ")
    print(probe_writable(home.root))
finally:
    permit(0o200)
append("after")
open_control(home.control_url, world="sandbox").close()
print(probe_writable(home.root))
