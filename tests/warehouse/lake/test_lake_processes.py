"""Several processes write one lake, and some are killed in the middle of it."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.store import open_lake

pytestmark = pytest.mark.full

ROWS_EACH = 25
LINES_OF_ROUNDS = (0, 3)


def start(program: Path, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, program, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def acknowledged_in(output: str) -> list[str]:
    """Names on whole lines: what a kill tore in the middle was not said."""
    lines = output.splitlines(keepends=True)
    return [line.split()[1] for line in lines if re.fullmatch(r"acknowledged \S+\n", line)]


def acknowledged(writer: "subprocess.Popen[str]", count: int) -> list[str]:
    """Wait until it has acknowledged so many; their names."""
    assert writer.stdout is not None
    return [name for _ in range(count) for name in acknowledged_in(writer.stdout.readline())]


def kill(writer: "subprocess.Popen[str]") -> list[str]:
    """What it acknowledged since; read through the same buffer as its first lines."""
    writer.kill()
    with writer:
        assert writer.stdout is not None
        return acknowledged_in(writer.stdout.read())


def rows_by_capture(url: str) -> Counter[str]:
    engine = Engine(open_lake(url, world="sandbox"))
    found = engine.rows("select capture_id, position from raw.capture_items")
    assert len(found) == len({(row["capture_id"], row["position"]) for row in found})
    return Counter(str(row["capture_id"]) for row in found)


def test_writers_and_a_compactor_do_not_get_into_each_others_way(
    tmp_path: Path, programs: Path
) -> None:
    url = str(tmp_path / "lake")
    compactor = start(programs / "compact_items.py", url)
    writers = [start(programs / "append_captures.py", url, f"w{n}", "12") for n in range(3)]
    outputs = [writer.communicate()[0] for writer in writers]
    names = [name for output in outputs for name in acknowledged_in(output)]
    compactor.communicate()
    assert [process.returncode for process in (*writers, compactor)] == [0] * 4
    assert len(names) == 3 * 12
    assert rows_by_capture(url) == dict.fromkeys(names, ROWS_EACH)


@pytest.mark.soak
def test_reader_never_sees_a_count_go_back_or_a_part_of_a_capture(
    tmp_path: Path, programs: Path
) -> None:
    url = str(tmp_path / "lake")
    engine = Engine(open_lake(url, world="sandbox"))
    compactor = start(programs / "compact_items.py", url)
    writers = [start(programs / "append_captures.py", url, f"w{n}", "15") for n in range(2)]
    seen = [0]
    while any(writer.poll() is None for writer in writers):
        rows = engine.rows("select capture_id, count(*) as n from raw.capture_items group by all")
        assert {row["n"] for row in rows} <= {ROWS_EACH}
        seen.append(len(rows))
    for process in (*writers, compactor):
        process.communicate()
    assert seen == sorted(seen)
    engine.refresh()
    assert engine.rows("select count(*) as n from raw.capture_items") == [{"n": 30 * ROWS_EACH}]


def test_kill_loses_no_acknowledged_commit_and_leaves_none_half(
    tmp_path: Path, programs: Path
) -> None:
    """Each round ends after so many lines of the first writer, with all of them at work."""
    url = str(tmp_path / "lake")
    open_lake(url, world="sandbox")
    names: list[str] = []
    for lines in LINES_OF_ROUNDS:
        writers = [
            start(programs / "append_captures.py", url, f"after{lines}w{number}", "9999")
            for number in range(3)
        ]
        for writer in writers:
            names += acknowledged(writer, 1)
        names += acknowledged(writers[0], lines)
        for writer in writers:
            names += kill(writer)
    found = rows_by_capture(url)
    killed = len(LINES_OF_ROUNDS) * 3
    assert len(names) == len(set(names)) >= killed + sum(LINES_OF_ROUNDS)
    assert set(names) <= found.keys()
    assert set(found.values()) == {ROWS_EACH}
    assert len(found) - len(names) <= killed  # committed, but killed before it could say so


@pytest.mark.soak  # in a lake whose writers were killed the next round of the test above writes
def test_lake_works_on_after_its_writer_was_killed(tmp_path: Path, programs: Path) -> None:
    url = str(tmp_path / "lake")
    open_lake(url, world="sandbox")
    writer = start(programs / "append_captures.py", url, "killed", "9999")
    names = acknowledged(writer, 1)
    names += kill(writer)
    successor = start(programs / "append_captures.py", url, "successor", "5")
    names += acknowledged_in(successor.communicate()[0])
    lake = open_lake(url, world="sandbox")
    lake.compact("raw.capture_items")
    lake.vacuum("raw.capture_items")
    assert len(names) >= 6
    assert set(names) <= rows_by_capture(url).keys()
