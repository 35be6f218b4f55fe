"""A catalogue before a real worker: rate, memory, an interruption, and a second run with a change.

`python -m benchmarks.speed.catalog [--tracks 20] [--added 1] [--size 1.0] [--seed 7]`. The service
and its worker run as the product starts them; the sandbox runs on the same processors, and renders
each sound when it is first requested, so its share of the processor is printed apart. The worker is
killed without warning when half of the tracks have ended.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
import psutil

from benchmarks.speed.running import Figure, Row, RowOutput, Runner, Workspace
from pipelines.settings import Settings
from tests.deployment import Deployment, open_deployment

CATALOGS = "/api/v1/sametrack/catalogs"
NAME = "songs"
POLL_S = 1.0
ALL_TRACKS, ALL_HOURS = 1000, 8
SHARE_OF_CHANGE = 10
"""The second run may have one request for so many of the first."""
LOGGED = 100_000
PART_S = 5.0
"""Requests for a file that follow one another sooner are for its parts."""


@dataclass
class CatalogBench:
    """A stage with an imported catalogue, and what was seen of its worker."""

    deployment: Deployment
    api: httpx2.Client
    most_bytes: int = 0
    most_by_kind: Counter[str] = field(default_factory=Counter)
    said: int = field(default=-1)

    def add(self, music_ids: list[str]) -> None:
        """Import tracks."""
        body = {"inputs": music_ids}
        self.api.post(f"{CATALOGS}/{NAME}/tracks", json=body).raise_for_status()

    def run(self, *, kill_after: int | None = None) -> Iterator[str]:
        """Request a run and wait for its end; yield where it stands whenever a track has ended.

        kill_after: ended tracks after which the worker is killed while it scans.
        """
        self.api.post(f"{CATALOGS}/{NAME}/runs").raise_for_status()
        while (now := self.state())["is_running"]:
            states = now["states"]
            ended = states["fresh"] + states["failed"]
            self._look_at_memory()
            if ended != self.said:
                self.said = ended
                yield f"{ended} tracks have ended, {now['track_count'] - ended} to come"
            if kill_after is not None and ended >= kill_after and states["running"]:
                kill_after = None
                yield self._kill(ended)
            time.sleep(POLL_S)

    def state(self) -> dict[str, Any]:
        """Return where the catalogue stands."""
        answer = self.api.get(f"{CATALOGS}/{NAME}").raise_for_status()
        found: dict[str, Any] = answer.json()["data"]
        return found

    def _kill(self, ended: int) -> str:
        worker = self.deployment.worker
        assert worker is not None
        psutil.Process(worker.process.pid).kill()
        worker.process.wait()
        self.deployment.start_worker()
        return f"the worker was killed after {ended} tracks; another begins"

    def _look_at_memory(self) -> None:
        """Keep the most bytes of the worker and all its processes, shared pages counted once."""
        assert self.deployment.worker is not None
        found = Counter[str]()
        try:
            root = psutil.Process(self.deployment.worker.process.pid)
            for process in [root, *root.children(recursive=True)]:
                kind = "worker" if process == root else _kind(process)
                found[kind] += process.memory_full_info().pss
        except psutil.NoSuchProcess:  # one that ended meanwhile
            return
        if found.total() > self.most_bytes:
            self.most_bytes, self.most_by_kind = found.total(), found


def _kind(process: psutil.Process) -> str:
    """Return what a process of the worker is there for."""
    command = " ".join(process.cmdline())
    if "decoder_process" in command:
        return "decoders"
    return "fork server, scans, look-up" if "forkserver" in command else "others"


def measure_catalog(space: Workspace, *, tracks: int = 20, added: int = 1) -> Iterator[RowOutput]:
    """Scan a catalogue with an interruption, then once more with a few tracks more."""
    runs = int(Settings.model_fields["worker_runs"].default)
    with open_deployment(space.folder / "catalog", space.sounds) as deployment:
        deployment.settings = {
            "WORKER_RUNS": str(runs), "WORKER_LOST_AFTER_S": "20", "HEARTBEAT_S": "2",
        }  # fmt: skip
        deployment.start_platform(seed=space.seed, size=space.size)
        deployment.start_worker()
        bench = CatalogBench(deployment=deployment, api=deployment.start_api())
        known = [track["music_id"] for track in deployment.world("/_world/tracks")["tracks"]]
        if len(known) < tracks + added:
            raise SystemExit(f"The world has {len(known)} tracks; take a larger --size")
        yield from _first_run(bench, known[:tracks])
        yield from _second_run(bench, known[tracks : tracks + added], before=tracks)


def _first_run(bench: CatalogBench, music_ids: list[str]) -> Iterator[RowOutput]:
    bench.add(music_ids)
    cpu, began = _cpu(bench.deployment), time.monotonic()
    yield from bench.run(kill_after=len(music_ids) // 2)
    spent = time.monotonic() - began
    rate = len(music_ids) / spent * 3600
    yield "tracks / seconds", f"{len(music_ids)} / {spent:.0f}", ""
    aim = f"{ALL_TRACKS / ALL_HOURS:.0f} an hour"
    yield "rate", f"{rate:.0f} tracks an hour", aim
    yield f"so {ALL_TRACKS} tracks take", f"{ALL_TRACKS / rate:.1f} h", f"{ALL_HOURS} h"
    used = _cpu(bench.deployment) - cpu
    yield "processor of the sandbox", f"{used:.0f} s of {spent * 2:.0f} s on two cores", "apart"
    yield "worker with all its processes, most", f"{bench.most_bytes / 1e9:.2f} GB", "1.5 GB"
    for kind, size in bench.most_by_kind.items():
        yield f"  {kind}", f"{size / 1e9:.2f} GB", ""
    yield "failed tracks", str(bench.state()["states"]["failed"]), "0"
    yield from _repeated(bench.deployment)


def _repeated(deployment: Deployment) -> Iterator[Figure]:
    """Say how many requests were made for what an earlier one had answered, by surface.

    The parts of a file are requested one after the other; they count once.
    """
    log = deployment.world(f"/_world/access-log/requests?limit={LOGGED}")["requests"]
    answered = [one for one in log if one["status"] == 200 and one["surface"] != "control"]
    last: dict[tuple[str, str], float] = {}
    again, distinct = Counter[str](), Counter[str]()
    for one in answered:
        place = one["surface"], one["target"]
        distinct[one["surface"]] += place not in last
        again[one["surface"]] += place in last and one["at"] - last[place] > PART_S
        last[place] = one["at"]
    for surface, number in distinct.items():
        yield f"  {surface}: distinct / asked again", f"{number} / {again[surface]}", ""


def _second_run(bench: CatalogBench, music_ids: list[str], *, before: int) -> Iterator[RowOutput]:
    first = _requests(bench.deployment)
    bench.add(music_ids)
    began = time.monotonic()
    yield from bench.run()
    second = _requests(bench.deployment) - first
    share = len(music_ids) / before
    what = f"second run, {share:.0%} more tracks: requests of the first / of the second"
    yield what, f"{first} / {second} ({second / first:.1%})", f"{1 / SHARE_OF_CHANGE:.0%}"
    yield "second run took", f"{time.monotonic() - began:.0f} s", ""


def _requests(deployment: Deployment) -> int:
    return int(deployment.world("/_world/access-log/summary")["requests"])


def _cpu(deployment: Deployment) -> float:
    return float(deployment.world("/_world/cpu")["total_s"])


def main() -> None:
    """Measure with the given numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tracks", type=int, default=20)
    parser.add_argument("--added", type=int, default=1)
    parser.add_argument("--size", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--sounds", default="", help="keep rendered sounds in this folder")
    given = parser.parse_args()
    row = Row(
        "catalog", "a catalogue, interrupted, and again with a change",
        lambda space: measure_catalog(space, tracks=given.tracks, added=given.added),
    )  # fmt: skip
    with TemporaryDirectory() as folder:
        root = Path(folder)
        sounds = Path(given.sounds) if given.sounds else root / "sounds"
        space = Workspace(
            folder=root, sounds=sounds, lake=root / "lake", seed=given.seed, size=given.size
        )
        sys.exit(Runner().run([row], space))


if __name__ == "__main__":
    main()
