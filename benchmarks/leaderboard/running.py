"""Runs the leaderboard: makes the files, lets each tool search, and stores the figures.

Apart from `__main__.py`, because other processes import it.
"""

import argparse
import hashlib
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from benchmarks.leaderboard.levels import LEVELS, Query, draw_all
from benchmarks.leaderboard.making import Recordings, make_queries, write_references
from benchmarks.leaderboard.scoring import Document, measure
from benchmarks.leaderboard.tools import LEFT_OUT, TOOLS
from benchmarks.speed.running import counted


def run(
    durations: Mapping[str, float],
    others: Sequence[str],
    load: Recordings,
    options: argparse.Namespace,
) -> Document:
    """Measure the tools that are installed and store the figures.

    Args:
        durations: Names and lengths in seconds of the recordings that queries are made of; the
            first ones are stored, the next are negatives.
        others: Names of recordings that are stored too.
        load: Returns the sound of a recording.
        options: Those of the command line.
    """
    names = list(durations)
    stored = {name: durations[name] for name in names[: options.stored]}
    negative = {name: durations[name] for name in names[len(stored) :][: options.negatives]}
    queries = draw_all(stored, negative, options.pieces)
    references = write_references([*stored, *others], load, options.folder)
    files = make_queries(queries, load, options.folder, workers=options.processes)
    clips = [query for query in queries if query.form == "clip" and not query.is_negative]
    document: Document = {
        "counts": {
            "references": len(references), "queried": len(stored), "negatives": len(negative),
            "clips": f"{len(clips) / len(LEVELS):.0f}",
        },
        "drawn": hashlib.sha256(repr((queries, sorted(references))).encode()).hexdigest(),
        "tools": {},
        "left_out": dict(LEFT_OUT),
    }  # fmt: skip
    results = options.folder / ("quick.json" if options.quick else "results.json")
    if options.tool and results.exists():
        earlier = json.loads(results.read_text(encoding="utf-8"))
        document["tools"] = earlier["tools"] if earlier["drawn"] == document["drawn"] else {}
    keys = [key for key, tool in TOOLS.items() if tool.is_installed()]
    missing = [tool.name for key, tool in TOOLS.items() if key not in keys]
    document["left_out"] |= dict.fromkeys(missing, "not installed on this machine")
    keys = [key for key in keys if options.tool in (None, key)]
    with ProcessPoolExecutor(options.processes, mp_context=get_context("spawn")) as pool:
        measured = pool.map(partial(measure_tool, references, queries, files), keys)
        for key, figures in zip(keys, measured, strict=True):
            document["tools"][key] = figures | {"command": _command(key, options)}
            results.write_text(json.dumps(document, indent=1), encoding="utf-8")
    return document


def _command(key: str, options: argparse.Namespace) -> str:
    sizes = " ".join(
        f"--{name} {getattr(options, name)}" for name in ("stored", "negatives", "pieces")
    )
    return f".venv/bin/python -m benchmarks.leaderboard {sizes} --tool {key}"


def measure_tool(
    references: Mapping[str, Path], queries: Sequence[Query], files: Mapping[str, Path], key: str
) -> Document:
    """Return the version and all figures of one tool."""
    with TOOLS[key]() as tool:
        tool.store(references)
        what = f"searching by {tool.name}"
        detections = {
            query.name: tool.search(files[query.name])
            for query in counted(queries, what=what, total=len(queries), every_s=30)
        }
        return {
            "name": tool.name,
            "version": tool.version(),
            "how": tool.how,
            "rows": measure(queries, detections),
        }
