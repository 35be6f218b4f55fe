"""Several processes write one lake, and some are killed in the middle of it."""

import random
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from warehouse.engine import Engine
from warehouse.lake import open_lake

ROWS_EACH = 25
ROUNDS = 4


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


def first_acknowledged(writer: "subprocess.Popen[str]") -> list[str]:
    assert writer.stdout is not None
    return acknowledged_in(writer.stdout.readline())


def kill(writer: "subprocess.Popen[str]") -> list[str]:
    """What it acknowledged since; read through the same buffer as its first line."""
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
    writers = [start(programs / "append_captures.py", url, f"w{n}", "30") for n in range(4)]
    outputs = [writer.communicate(timeout=120)[0] for writer in writers]
    acknowledged = [name for output in outputs for name in acknowledged_in(output)]
    compactor.communicate(timeout=60)
    assert [process.returncode for process in (*writers, compactor)] == [0] * 5
    assert len(acknowledged) == 4 * 30
    assert rows_by_capture(url) == dict.fromkeys(acknowledged, ROWS_EACH)


def test_reader_never_sees_a_count_go_back_or_a_part_of_a_capture(
    tmp_path: Path, programs: Path
) -> None:
    url = str(tmp_path / "lake")
    engine = Engine(open_lake(url, world="sandbox"))
    compactor = start(programs / "compact_items.py", url)
    writers = [start(programs / "append_captures.py", url, f"w{n}", "30") for n in range(2)]
    seen = [0]
    while any(writer.poll() is None for writer in writers):
        rows = engine.rows("select capture_id, count(*) as n from raw.capture_items group by all")
        assert {row["n"] for row in rows} <= {ROWS_EACH}
        seen.append(len(rows))
    for process in (*writers, compactor):
        process.communicate(timeout=60)
    assert seen == sorted(seen)
    engine.refresh()
    assert engine.rows("select count(*) as n from raw.capture_items") == [{"n": 60 * ROWS_EACH}]


def test_kill_loses_no_acknowledged_commit_and_leaves_none_half(
    tmp_path: Path, programs: Path
) -> None:
    url = str(tmp_path / "lake")
    acknowledged: list[str] = []
    for round_ in range(ROUNDS):
        names = [f"r{round_}w{number}" for number in range(3)]
        writers = [start(programs / "append_captures.py", url, name, "9999") for name in names]
        for writer in writers:
            acknowledged += first_acknowledged(writer)  # from here on all of them are at work
        time.sleep(random.uniform(0.1, 0.6))
        for writer in writers:
            acknowledged += kill(writer)
    found = rows_by_capture(url)
    killed = ROUNDS * 3
    assert len(acknowledged) == len(set(acknowledged)) > killed
    assert set(acknowledged) <= found.keys()
    assert set(found.values()) == {ROWS_EACH}
    assert len(found) - len(acknowledged) <= killed  # committed, but killed before it could say so


def test_lake_works_on_after_its_writer_was_killed(tmp_path: Path, programs: Path) -> None:
    url = str(tmp_path / "lake")
    writer = start(programs / "append_captures.py", url, "killed", "9999")
    acknowledged = first_acknowledged(writer)
    acknowledged += kill(writer)
    successor = start(programs / "append_captures.py", url, "successor", "5")
    acknowledged += acknowledged_in(successor.communicate(timeout=60)[0])
    lake = open_lake(url, world="sandbox")
    lake.compact("raw.capture_items")
    lake.vacuum("raw.capture_items")
    assert len(acknowledged) >= 6
    assert set(acknowledged) <= rows_by_capture(url).keys()
