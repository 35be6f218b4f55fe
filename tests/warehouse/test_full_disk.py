"""Without room, a store says so, stores nothing half and works again once there is room."""

import subprocess
import sys
from pathlib import Path

import pytest

from warehouse.control import links, open_control
from warehouse.control.links import CachedLink
from warehouse.engine.duckdb_engine import Engine
from warehouse.files import MIN_FREE_BYTES
from warehouse.lake.store import open_lake
from warehouse.records.errors import CapacityExhaustedError, WarehouseUnavailableError

pytestmark = pytest.mark.full


def test_lake_without_room_is_unavailable_and_keeps_what_it_had(
    tmp_path: Path, programs: Path
) -> None:
    url = str(tmp_path / "lake")
    append = [sys.executable, str(programs / "append_captures.py"), url, "before", "1"]
    subprocess.run(append, check=True, capture_output=True)
    starved = subprocess.run(
        [sys.executable, programs / "append_without_room.py", url],
        check=True,
        capture_output=True,
        text=True,
    )
    assert starved.stdout.split() == ["WarehouseUnavailableError"]
    append[3] = "after"
    subprocess.run(append, check=True, capture_output=True)
    engine = Engine(open_lake(url, world="sandbox"))
    rows = engine.rows("select capture_id, count(*) as n from raw.capture_items group by all")
    assert sorted((row["capture_id"], row["n"]) for row in rows) == [
        ("after-0", 25),
        ("before-0", 25),
    ]


def test_a_nearly_full_disk_refuses_before_anything_is_written(tmp_path: Path) -> None:
    room = [MIN_FREE_BYTES - 1]
    lake = open_lake(str(tmp_path), world="sandbox", free=lambda _folder: room[0])
    row = {
        "capture_id": "c", "position": 0, "surface": "music_list", "entity_id": "1",
        "sequence": 1, "aweme_id": "7",
    }  # fmt: skip
    with pytest.raises(CapacityExhaustedError, match="MB of disk space are free") as caught:
        lake.append("raw.capture_items", [row])
    assert caught.value.type == "capacity_exhausted"
    assert str(tmp_path) not in caught.value.detail
    assert lake.version("raw.capture_items") == 0
    room[0] = MIN_FREE_BYTES
    lake.append("raw.capture_items", [row])
    assert lake.version("raw.capture_items") == 1


def test_control_store_without_room_is_unavailable_and_works_again(tmp_path: Path) -> None:
    control = open_control(f"sqlite:///{tmp_path / 'control.sqlite'}", world="sandbox")
    links.save(control, "short", "music", "1", ttl_s=60)
    with control.read() as connection:
        connection.exec_driver_sql("pragma max_page_count=1")  # as a full disk: no new page
    with pytest.raises(WarehouseUnavailableError) as caught:
        links.save(control, "long", "music", "x" * 100_000, ttl_s=60)
    assert "full" in str(caught.value.__cause__)
    with control.read() as connection:
        connection.exec_driver_sql("pragma max_page_count=4294967294")
    assert links.read(control, "short") == CachedLink("music", "1")
    assert links.read(control, "long") is None
    control.close()
