"""One damaged or missing file of each kind: the error names it, and says what to do."""

import tarfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from warehouse.control import jobs, open_control
from warehouse.engine.duckdb_engine import Engine
from warehouse.exports.pseudonyms import open_pseudonyms
from warehouse.home import open_home
from warehouse.lake.store import open_lake
from warehouse.records.errors import WarehouseError

pytestmark = pytest.mark.full

STORE = Path(__file__).parents[1] / "data" / "first_release" / "store.tar.xz"
LOG = "lake/raw/videos/_delta_log/*.json"
FILES = "lake/raw/videos/*.parquet"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with tarfile.open(STORE) as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path / "home" / "sandbox"


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def garble(path: Path) -> None:
    path.write_bytes(b"garbage " * 100)


def read(home: Path) -> list[dict[str, object]]:
    opened = open_home(home.parent, home.name)
    with closing(open_control(opened.control_url, world="sandbox")) as control:
        jobs.newest(control, limit=1)
    with closing(Engine(open_lake(opened.lake_url, world="sandbox"))) as engine:
        engine.refresh()
        return engine.rows('select max("desc") as d, count(*) as n from raw.videos', {})


@pytest.mark.parametrize(
    ("pattern", "damage", "named"),
    [
        (FILES, cut, ".parquet"),
        (FILES, garble, ".parquet"),
        (FILES, Path.unlink, ".parquet"),
        ("control.sqlite", cut, "control.sqlite"),
        ("control.sqlite", garble, "control.sqlite"),
        (LOG, cut, "raw.videos"),
        (LOG, garble, "raw.videos"),
    ],
)
def test_a_damaged_file_is_named_with_what_to_do(
    home: Path, pattern: str, damage: Callable[[Path], None], named: str
) -> None:
    for path in sorted(home.glob(pattern))[:1]:
        damage(path)
    before = {path: path.stat().st_size for path in home.rglob("*") if path.suffix == ".parquet"}
    with pytest.raises(WarehouseError) as found:
        read(home)
    assert named in found.value.detail
    assert str(home) not in found.value.detail
    assert "sametrack restore" in (found.value.hint or "")
    assert {path: path.stat().st_size for path in before} == before


def test_an_undamaged_store_is_read(home: Path) -> None:
    assert read(home)[0]["n"]


def test_a_damaged_key_of_pseudonyms_is_no_other_key(home: Path) -> None:
    (home / "pseudonyms.key").write_bytes(b"")
    with pytest.raises(WarehouseError, match=r"pseudonyms\.key") as found:
        open_pseudonyms(open_home(home.parent, home.name))
    assert "sametrack restore" in (found.value.hint or "")
