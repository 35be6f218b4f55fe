"""Append rows while no file may grow beyond 200 bytes; print the type of the error.

Usage: append_without_room.py LAKE
"""

import resource
import sys

from warehouse.lake.store import open_lake
from warehouse.records.errors import WarehouseError

lake = open_lake(sys.argv[1], world="sandbox")
row = {
    "capture_id": "without room",
    "position": 0,
    "surface": "music_list",
    "entity_id": "1",
    "sequence": 1,
    "aweme_id": "1",
}
resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))
try:
    lake.append("raw.capture_items", [row])
except WarehouseError as error:
    print(type(error).__name__)
