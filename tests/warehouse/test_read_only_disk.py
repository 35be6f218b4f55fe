"""Without permission to write, each program says so, and nothing that was stored is lost.

Also where tests run as root: their children then lack the capability that ignores permissions.
"""

import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from api.cli.processes.child_processes import find_port, sametrack_command
from tests.deployment import PATIENCE_S
from tests.warehouse.test_damaged_files import STORE
from warehouse.control import open_control
from warehouse.engine.duckdb_engine import Engine
from warehouse.home import open_home
from warehouse.lake.store import open_lake

pytestmark = pytest.mark.full

BOUND = ("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--")
READ_ONLY = "the disk is read-only, or the files may not be written"


def run_bound(command: list[str], **env: str) -> subprocess.CompletedProcess[str]:
    """Run a program that permissions bind."""
    return subprocess.run(
        [*(BOUND if os.geteuid() == 0 else ()), *command],
        env={**os.environ, **env}, capture_output=True, text=True, check=False, timeout=PATIENCE_S,
    )  # fmt: skip


@pytest.fixture
def data_home(tmp_path: Path) -> Path:
    with tarfile.open(STORE) as archive:
        archive.extractall(tmp_path, filter="data")
    home = open_home(tmp_path / "home", "sandbox")
    open_control(home.control_url, world="sandbox").close()  # brought to the present version
    return tmp_path / "home"


@pytest.fixture
def read_only(data_home: Path) -> Iterator[Path]:
    places = [data_home, *data_home.rglob("*")]
    for path in places:
        path.chmod(path.stat().st_mode & ~0o222)
    yield data_home
    for path in places:
        path.chmod(path.stat().st_mode | 0o200)


@pytest.mark.soak
def test_the_doctor_says_that_a_home_cannot_be_written(read_only: Path) -> None:
    ended = run_bound(
        sametrack_command("doctor", "--no-upstream"),
        PROFILE="sandbox", DATA_HOME=str(read_only), CONTROL_URL="", LAKE_URL="",
    )  # fmt: skip
    assert "DATA_HOME: it is read-only for this process" in " ".join(ended.stdout.split())
    assert ended.returncode == 1


@pytest.mark.soak
@pytest.mark.parametrize("command", ["jobs", "serve", "worker"])
def test_a_program_ends_with_a_named_error_on_a_read_only_home(
    read_only: Path, command: str
) -> None:
    ended = run_bound(
        sametrack_command(command, *(("--port", str(find_port())) if command == "serve" else ())),
        PROFILE="sandbox", DATA_HOME=str(read_only), CONTROL_URL="", LAKE_URL="",
    )  # fmt: skip
    said = ended.stdout + ended.stderr
    assert ended.returncode == 1, said
    assert "warehouse_unavailable" in said
    assert "read-only" in said
    assert "Traceback" not in said
    assert str(read_only) not in said


def test_a_home_that_turns_read_only_loses_nothing_and_works_again(
    data_home: Path, programs: Path
) -> None:
    ended = run_bound([sys.executable, str(programs / "turn_read_only.py"), str(data_home)])
    assert ended.returncode == 0, ended.stderr
    append, control, meanwhile, again = ended.stdout.splitlines()
    for line in (append, control):
        assert line.startswith("warehouse_unavailable | ")
        assert READ_ONLY in line
        assert "DATA_HOME" in line
    assert (meanwhile, again) == ("the data home: it is read-only for this process", "None")
    home = open_home(data_home, "sandbox")
    with closing(Engine(open_lake(home.lake_url, world="sandbox"))) as engine:
        rows = engine.rows(
            "select capture_id from raw.capture_items "
            "where capture_id in ('before', 'meanwhile', 'after') order by all"
        )
    assert [row["capture_id"] for row in rows] == ["after", "before"]
