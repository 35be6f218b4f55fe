"""Ten drawn worlds: what a scan confirms, against what the world knows.

`python -m tests.bench.truth [--seeds 1,2,3] [--size 1.0] [--candidates 600]`. Prints the seeds, so
that a run can be repeated, and every wrong or missed work with what was heard of it.

Recall is of a pool that is large enough: a post under another music id that does not name the song
is one of everything its author shows, so whether a full pool holds it is a matter of luck.
"""

import argparse
import random
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.stage import Stage, open_stage
from warehouse.queries import read_candidates, read_result_document

console = Console(width=160)


def main() -> None:
    options = _options()
    seeds = [int(part) for part in options.seeds.split(",")] if options.seeds else _draw()
    console.print(f"seeds {','.join(map(str, seeds))}  size {options.size}")
    table = Table(title="scan against truth")
    for name in (
        "seed",
        "track",
        "pool",
        "confirmed",
        "precision",
        "recall",
        "reachable",
        "variants",
        "s",
    ):
        table.add_column(name, justify="right")
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(options.sounds or folder) / "sounds"
        for seed in seeds:
            row = _one(Path(folder) / str(seed), cache, seed, options)
            table.add_row(*row)
            console.print(*row)
    console.print(table)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="")
    parser.add_argument("--size", type=float, default=1.0)
    parser.add_argument("--candidates", type=int, default=600)
    parser.add_argument("--sounds", default="", help="keep rendered sounds in this folder")
    return parser.parse_args()


def _draw() -> list[int]:
    return [random.SystemRandom().randrange(1, 1_000_000) for _ in range(10)]


def _one(root: Path, cache: Path, seed: int, options: argparse.Namespace) -> tuple[str, ...]:
    root.mkdir(parents=True)
    with open_stage(root, cache) as stage:
        stage.start_platform(seed=seed, size=options.size)
        stage.start_worker()
        hardness = stage.world("/_world/hardness")
        console.print(f"seed {seed} hardness", {key: _short(hardness[key]) for key in hardness})
        track = stage.world("/_world/tracks")["tracks"][seed % 20]
        began = time.monotonic()
        job_id = stage.ask(track["prose"], candidate_limit=options.candidates)
        job = stage.ended(job_id, patience_s=600)
        spent = time.monotonic() - began
        stage.engine.refresh()
        document = read_result_document(stage.engine, job_id)
        if document is None:
            return (str(seed), track["title"], job.status, str(job.error), "", "", "", "", "")
        return _compare(stage, seed, track, document, job_id, spent)


def _short(value: object) -> object:
    return round(value, 3) if isinstance(value, float) else value


def _compare(
    stage: Stage,
    seed: int,
    track: dict[str, Any],
    document: dict[str, Any],
    job_id: str,
    spent: float,
) -> tuple[str, ...]:
    works = {
        work["aweme_id"]: work
        for work in stage.world(f"/_world/truth/{track['music_id']}")["works"]
        if work["is_public"]
    }
    same = {name for name, work in works.items() if work["relation"] == "same"}
    reachable = {name for name in same if works[name]["round"] is not None}
    confirmed = {video["aweme_id"]: video for video in document["ranked"]}
    right = same & confirmed.keys()
    candidates = {row["aweme_id"]: row for row in read_candidates(stage.engine, job_id)}
    for name in sorted(confirmed.keys() - same):
        console.print(
            "  WRONG", works.get(name, "not of this track"), confirmed[name].get("evidence")
        )
    for name in sorted(same - confirmed.keys()):
        seen = candidates.get(name, {})
        console.print("  MISSED", works[name], seen.get("outcome"), seen.get("reason"))
    variants = {name for name, work in works.items() if work["relation"] == "variant"}
    heard = {video["aweme_id"]: video for video in document["variants"]["aweme_list"]}
    for name in sorted(heard.keys() - variants):
        console.print("  NO VARIANT", works.get(name, "not of this track"), heard[name]["evidence"])
    off = [
        abs(video["speed"] / works[name]["speed"] - 1)
        for name, video in heard.items()
        if name in variants
    ]
    return (
        str(seed),
        track["title"][:30],
        str(document["candidate_pool_size"]),
        str(len(confirmed)),
        f"{len(right) / max(1, len(confirmed)):.3f}",
        f"{len(right) / max(1, len(same)):.3f}",
        f"{len(right & reachable) / max(1, len(reachable)):.3f}",
        f"{len(off)}/{len(variants)} off {max(off, default=0.0):.2%}",
        f"{spent:.1f}",
    )


if __name__ == "__main__":
    main()
