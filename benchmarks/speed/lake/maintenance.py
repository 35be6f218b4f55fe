"""What upkeep does for look-ups: a large lake of observations, and a week of small commits.

`python -m benchmarks.speed.lake.maintenance [--observations N] [--commits N] [--far] [--lake
FOLDER]` runs this part alone, with five million observations and forty commits a day to each table;
`make bench` takes the lake of its reads, and fewer commits. A FOLDER that is there already is
copied, never changed; `--far` says that the works of its lists lie far apart, as `reads` writes
them. Three lakes of the same rows are asked in turn, so that a busy machine slows all of them
alike: one that was left to the worker for a week, one that was maintained as the schedule does, one
that was written anew from the first row to the last.
"""

import argparse
import random
import shutil
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
from deltalake import DeltaTable

from benchmarks.speed.lake.large_lake import (
    _ROWS,
    FAR,
    NEAR,
    SMALLER,
    SPAN,
    TABLES,
    WORLD,
    LargeLake,
    _append,
    keep_large_lake,
)
from benchmarks.speed.running import Figure, RowOutput, Workspace, run_alone
from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.schema_evolution import SORTED_ROWS
from warehouse.lake.store import Lake, open_lake
from warehouse.maintenance.compaction import LakeMaintenance, maintain_lake
from warehouse.maintenance.video_index import update_video_index
from warehouse.queries.lists import read_union_page
from warehouse.queries.videos import read_listed_videos

OBSERVATIONS = 5_000_000
DAYS = 7
COMMITS_A_DAY = 40
FEWER_COMMITS_A_DAY = 15
"""Merges at sixty files leave as many of 105 commits as of 280, which is what slows a look-up."""
LOOKUPS = 60
WARM_UP = 5
SEED = 7
AIM = 1.5
_STALE = "left to the worker's own compaction"
_KEPT = "after the round of upkeep"
_FRESH = "written anew as a whole"


@dataclass(slots=True)
class Times:
    """Milliseconds of look-ups: by the clock, and of the processor."""

    clock: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)


def measure_maintenance(
    space: Workspace,
    *,
    observations: int = SMALLER,
    commits_a_day: int = FEWER_COMMITS_A_DAY,
    is_far: bool = True,
) -> Iterator[RowOutput]:
    """A look-up: a page of 20 works of a music id, with the newest counts of each."""
    root = space.folder / "maintenance"
    size = LargeLake(observations, stride=FAR if is_far else NEAR)
    home = yield from keep_large_lake(space.lake, size)
    stale = _own_copy(Path(home.lake_url), root / "stale")
    jobs = DAYS * commits_a_day
    yield f"{jobs * len(TABLES):,} small commits"
    _one_week(stale, size, jobs)
    what = f"{DAYS} days of captures on {observations:,} observations"
    yield what, f"{jobs * len(TABLES):,} commits", ""
    kept = _copied(stale, root / "kept")
    began = time.monotonic()
    tidied = _tidy(kept)
    spent = time.monotonic() - began
    yield "round of upkeep", f"{spent:.0f} s, {tidied.tables_arranged} tables arranged", ""
    yield "writing a copy anew"
    fresh = _copied(stale, root / "fresh")
    _write_anew(fresh)
    lakes = {_STALE: stale, _KEPT: kept, _FRESH: fresh}
    yield f"{LOOKUPS} look-ups in each of three lakes"
    found = _ask_in_turn(lakes, size)
    for name, lake in lakes.items():
        yield _figure(name, lake, found[name], found[_FRESH])


def _own_copy(given: Path, root: Path) -> Lake:
    """A copy without the files that no version names."""
    url = root / "lake"
    shutil.copytree(given, url)
    lake = open_lake(str(url), world=WORLD)
    for name in TABLES:
        lake.delete_old_versions(name)
    update_video_index(lake)  # of what was forgotten it cannot tell that nothing was taken away
    return lake


def _copied(lake: Lake, root: Path) -> Lake:
    shutil.copytree(lake.url, root / "lake")
    return open_lake(str(root / "lake"), world=WORLD)


def _one_week(lake: Lake, size: LargeLake, jobs: int) -> None:
    """The same number of observations a day as before, in commits as jobs make them; after each
    job its worker merges what is crowded.
    """
    pages = round(size.pages * DAYS / SPAN.days / jobs)
    details = round(size.details * DAYS / SPAN.days / jobs)
    with duckdb.connect() as connection:
        connection.execute("set global TimeZone='UTC'")
        first = _newest(lake) - SPAN
        for job in range(jobs):
            params: dict[str, object] = {
                "first": first,
                "works": size.works,
                "stride": size.stride,
                "entities": size.entities,
                "list_s": SPAN.total_seconds() / size.pages,
                "detail_s": SPAN.total_seconds() / size.details,
                "from_page": size.pages + pages * job,
                "to_page": size.pages + pages * (job + 1),
                "from_detail": size.details + details * job,
                "to_detail": size.details + details * (job + 1),
            }
            for name in TABLES:
                _append(connection, lake, name, params, _ROWS[name])
            lake.compact_all()


def _newest(lake: Lake) -> Any:
    with closing(Engine(lake)) as engine:
        return engine.rows("select max(observed_at) as at from raw.captures")[0]["at"]


def _write_anew(lake: Lake) -> None:
    """As if every table had never been arranged before."""
    for name in TABLES:
        DeltaTable(lake.path(name)).alter.set_table_properties(
            {SORTED_ROWS: "0"}, raise_if_not_exists=False
        )
    _tidy(lake)


def _tidy(lake: Lake) -> LakeMaintenance:
    return maintain_lake(lake, now=_newest(lake) + timedelta(hours=2))


def _ask_in_turn(lakes: dict[str, Lake], size: LargeLake) -> dict[str, Times]:
    draw = random.Random(SEED)
    entities = draw.sample(range(size.entities), LOOKUPS + WARM_UP)
    found = {name: Times() for name in lakes}
    with ExitStack() as stack:
        engines = {name: stack.enter_context(closing(Engine(lake))) for name, lake in lakes.items()}
        for place, entity in enumerate(entities):
            for name, engine in engines.items():
                clock, processor = time.perf_counter(), time.process_time()
                _look_up(engine, size.music_id(entity))
                if place >= WARM_UP:
                    found[name].clock.append(1000 * (time.perf_counter() - clock))
                    found[name].processor.append(1000 * (time.process_time() - processor))
    return found


def _look_up(engine: Engine, music_id: str) -> None:
    page = read_union_page(
        engine, surfaces=["music_list"], entity_id=music_id,
        sequence=None, offset=0, count=20, order="public",
    )  # fmt: skip
    assert page is not None
    assert len(read_listed_videos(engine, page.aweme_ids)) == len(page.aweme_ids) == 20


def _figure(name: str, lake: Lake, times: Times, fresh: Times) -> Figure:
    files = sum(len(lake.files(table)) for table in TABLES)
    clock = statistics.median(times.clock) / statistics.median(fresh.clock)
    processor = statistics.median(times.processor) / statistics.median(fresh.processor)
    measured = (
        f"{_spread(times.clock)}, {files} files: {clock:.2f} of it (processor {processor:.2f})"
    )
    return (f"look-up {name}", measured, f"{AIM} of it" if name == _KEPT else "")


def _spread(milliseconds: Sequence[float]) -> str:
    ordered = sorted(milliseconds)
    p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    return f"{statistics.median(ordered):.1f} / {p95:.1f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--observations", type=int, default=OBSERVATIONS)
    parser.add_argument("--commits", type=int, default=COMMITS_A_DAY, help="a day, to each table")
    parser.add_argument("--far", action="store_true", help="works of a list lie far apart")
    parser.add_argument("--lake", default="", help="a data home to copy the lake from")
    options = parser.parse_args()
    run_alone(
        "maintenance",
        lambda space: measure_maintenance(
            space,
            observations=options.observations,
            commits_a_day=options.commits,
            is_far=options.far,
        ),
        lake=options.lake,
    )


if __name__ == "__main__":
    main()
