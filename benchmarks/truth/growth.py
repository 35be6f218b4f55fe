"""`python -m benchmarks.truth.growth HOME`: rows and bytes that the scans of a home have left
behind.

HOME is the folder of one world. Counted is what is on disk: data files of the lake with what their
footers say of rows, tables of the control store, and each other folder.
"""

import sqlite3
import sys
from pathlib import Path

import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

console = Console(width=100, highlight=False)


def main(home: Path) -> int:
    control = sqlite3.connect(home / "control.sqlite")
    scans = int(
        control.execute("select count(*) from jobs where status = 'completed'").fetchone()[0]
    )
    console.print(f"{scans} completed scans")
    table = Table("what", "rows", "kB", "rows a scan", "kB a scan")
    for name, rows, size in [*_lake(home / "lake"), *_control(control), *_folders(home)]:
        of_scan = [f"{count / max(scans, 1):,.1f}" for count in (rows, size / 1000)]
        table.add_row(name, f"{rows:,}", f"{size / 1000:,.1f}", *of_scan)
    console.print(table)
    return 0


def _lake(lake: Path) -> list[tuple[str, int, int]]:
    found = []
    for log in sorted(lake.rglob("_delta_log")):
        files = list(log.parent.rglob("*.parquet"))
        data = [file for file in files if "_delta_log" not in file.parts]
        rows = sum(pq.read_metadata(file).num_rows for file in data)
        size = sum(file.stat().st_size for file in log.parent.rglob("*") if file.is_file())
        found.append((str(log.parent.relative_to(lake)), rows, size))
    return found


def _control(control: sqlite3.Connection) -> list[tuple[str, int, int]]:
    names = control.execute("select name from sqlite_master where type = 'table' order by name")
    counts = [
        (f"control: {name}", control.execute(f"select count(*) from {name}").fetchone()[0], 0)
        for (name,) in names.fetchall()
    ]
    return [one for one in counts if one[1]]


def _folders(home: Path) -> list[tuple[str, int, int]]:
    found = []
    for place in sorted(home.iterdir()):
        files = [file for file in place.rglob("*") if file.is_file()] if place.is_dir() else [place]
        found.append((f"home: {place.name}", len(files), sum(one.stat().st_size for one in files)))
    return found


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
