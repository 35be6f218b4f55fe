"""Sizes of the stores of a world, and what is left of the day's budget."""

from pathlib import Path

from api.services.storage import measure_storage


def test_every_file_is_counted_once_under_its_store(tmp_path: Path) -> None:
    (tmp_path / "lake" / "raw").mkdir(parents=True)
    (tmp_path / "lake" / "raw" / "a").write_bytes(b"12345")
    (tmp_path / "control.sqlite").write_bytes(b"123")
    (tmp_path / "world.json").write_bytes(b"1")
    found = measure_storage(tmp_path, spent_today={"a": 30, "b": 7}, daily_budget=20, is_demo=True)
    sizes = {part["name"]: (part["bytes"], part["files"]) for part in found["parts"]}
    assert (sizes["lake"], sizes["control"], sizes["other"]) == ((5, 1), (3, 1), (1, 1))
    assert (found["total_bytes"], found["budget"]["used"]) == (9, 30)
    assert [host["left"] for host in found["budget"]["hosts"]] == [0, 13]
    assert found["free_bytes"] > 0
