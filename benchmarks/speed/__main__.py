"""`make bench [ROW=reads,chart]`: the figures of the hot paths, in one run, as they are measured.

Every figure is taken where a user meets it: real processes, real HTTP, sound rendered beforehand,
the stand-in platform's politeness delay off and its processor time stated apart. Read the ratios:
a shared machine moves all of them together. Sizes are small, so that all rows take minutes, and
labels say them; `python -m benchmarks.speed.service.reads` and its like take larger ones.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.speed.rows import ROWS
from benchmarks.speed.running import (
    ALL_WELL,
    NOT_UNDERSTOOD,
    Row,
    Runner,
    UnknownRowError,
    Workspace,
    choose_rows,
    list_rows,
)


def main(arguments: Sequence[str] | None = None, *, rows: Sequence[Row] = ROWS) -> int:
    """Measure what the arguments name; returns the exit status."""
    options = _options(arguments)
    if options.list or options.row.strip() == "list":
        print(list_rows(rows))
        return ALL_WELL
    try:
        chosen = choose_rows(rows, options.row)
    except UnknownRowError as error:
        print(f"no such row: {error}. There are:\n{list_rows(rows)}", file=sys.stderr)
        return NOT_UNDERSTOOD
    with TemporaryDirectory() as folder:
        root = Path(folder)
        space = Workspace(
            folder=root,
            sounds=Path(options.sounds or folder) / "sounds",
            lake=root / "large",
            seed=options.seed,
            size=options.size,
        )
        return Runner().run(chosen, space)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument("--row", default="", help="only these, comma-separated; `list` names all")
    parser.add_argument("--list", action="store_true", help="name the rows and end")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--size", type=float, default=1.0)
    parser.add_argument("--sounds", default="", help="keep rendered sounds in this folder")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
