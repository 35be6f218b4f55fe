"""`make leaderboard`: which tool finds which recordings, and where, at three levels of difficulty.

It takes less than two hours on two cores; `--quick` takes a few minutes. The figures are kept in
`reports/leaderboard/results.json`; the accuracy card shows them.
"""

import argparse
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.accuracy.sounds.tracks import RECORDINGS
from benchmarks.leaderboard.recordings import RecordingMissingError, find_durations, reader
from benchmarks.leaderboard.running import run
from benchmarks.leaderboard.section import sections
from benchmarks.leaderboard.tools import TOOLS

console = Console(width=180)
_QUICK = {"stored": 20, "negatives": 10, "pieces": 18}


def main() -> int:
    """Measure with real recordings, and print the tables."""
    options = _options()
    try:
        durations = find_durations("reported", options.recordings)
        others = [] if options.quick else list(find_durations("choosing", options.recordings))
    except RecordingMissingError as error:
        console.print(str(error))
        return 1
    document = run(durations, others, reader(options.recordings), options)
    for title, head, rows in sections(document):
        table = Table(*head, title=title, title_justify="left", box=None)
        for row in rows:
            table.add_row(*row)
        console.print(table)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few queries; not for the card")
    parser.add_argument("--tool", choices=TOOLS, help="measure this one, keep the others' figures")
    parser.add_argument("--stored", type=int, default=40, help="recordings of queries, stored")
    parser.add_argument("--negatives", type=int, default=20, help="recordings that are not stored")
    parser.add_argument("--pieces", type=int, default=400, help="of references, at each level")
    parser.add_argument("--folder", type=Path, default=Path("reports/leaderboard"))
    parser.add_argument("--recordings", type=Path, default=RECORDINGS)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    if options.quick:
        vars(options).update(_QUICK)
    return options


if __name__ == "__main__":
    sys.exit(main())
