"""Ten drawn worlds: what a scan confirms, by link type, against what the world knows.

`python -m benchmarks.truth.worlds [--seeds 1,2,3] [--size 1.0] [--mode autumn-2026] [--candidates
N]`. Each world is scanned in each mode of the sandbox, unless one is given: a generous platform,
and today's as it is believed to be. Prints the seeds, so that a run can be repeated, and every
wrong or missed video with what was heard of it. A scan has the default parameters unless
`--candidates` is given, and knows nothing of the world's truth.

Recall is against what a guest could reach in the same mode (`round` of the ground truth, see
`docs/sandbox.md`).

Recall is of a pool that is large enough: a post under another music id that does not name the song
is one of everything its author shows, so whether a full pool holds it is a matter of luck.
"""

import argparse
import itertools
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from api.services.report.ground_truth import LINK_TYPES, Judgement, judge, to_ground_truth_videos
from pipelines.documents.messages import EXHAUSTED_REASONS, RECALL_OF, TRUE_LABELS
from sandbox.server.switches import MODES
from tests.deployment import Deployment, open_deployment
from warehouse.queries.results import read_candidates, read_result_document

PATIENCE_S = 1800.0  # a machine may be busy with other things
console = Console(width=160)


@dataclass(frozen=True, slots=True)
class Scan:
    """One judged scan. `speed_error` is the largest of a variant's speed.

    `requests` counts the requests per surface, `after` those after the first challenge of a
    surface of the same host. `stops` are the stop reasons of sources that did not end by
    exhaustion. `details` are the details read and the requests that they took, `media` the files
    served and requested per media host.
    """

    seed: int
    mode: str
    title: str
    pool: int
    judgement: Judgement
    speed_error: float
    seconds: float
    requests: dict[str, int]
    after: dict[str, int]
    stops: dict[str, str]
    details: tuple[int, int]
    media: dict[str, tuple[int, int]]


def main() -> None:
    """Scan one track of each world and print what is right, world by world and all together."""
    options = _options()
    seeds = [int(part) for part in options.seeds.split(",")] if options.seeds else _draw()
    parameters = {"candidate_limit": options.candidates} if options.candidates else {}
    console.print(
        f"seeds {','.join(map(str, seeds))}  size {options.size}  "
        f"parameters {parameters or 'default'}"
    )
    modes = [options.mode] if options.mode else list(MODES)
    scans = []
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(options.sounds or folder) / "sounds"
        for seed, mode in itertools.product(seeds, modes):
            root = Path(folder) / f"{seed}-{mode}"
            root.mkdir(parents=True)
            with open_deployment(root, cache) as deployment:
                scans.append(_scan(deployment, seed, mode, options.size, parameters))
            console.print(_table(f"seed {seed}, {mode}", scans[-1:]))
            console.print("  requests", scans[-1].requests, "after a challenge", scans[-1].after)
            console.print(" ", _reading(scans[-1:]))
    for mode in modes:
        of_mode = [one for one in scans if one.mode == mode]
        console.print(_table(f"all worlds, {mode}", of_mode))
        console.print(_reading(of_mode))
    console.print(TRUE_LABELS.en)
    console.print(RECALL_OF.en)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="")
    parser.add_argument("--size", type=float, default=1.0)
    parser.add_argument("--mode", choices=tuple(MODES), default=None, help="only this mode")
    parser.add_argument("--candidates", type=int, default=None, help="candidate_limit of the scans")
    parser.add_argument("--sounds", default="", help="keep rendered sounds in this folder")
    return parser.parse_args()


def _draw() -> list[int]:
    return [random.SystemRandom().randrange(1, 1_000_000) for _ in range(10)]


def _scan(
    deployment: Deployment, seed: int, mode: str, size: float, parameters: dict[str, int]
) -> Scan:
    deployment.start_platform(seed=seed, size=size, mode=mode)
    deployment.start_worker()
    hardness = deployment.world("/_world/hardness")
    console.print(f"seed {seed} hardness", {key: _short(hardness[key]) for key in hardness})
    track = deployment.world("/_world/tracks?counts=0")["tracks"][seed % 20]
    began = time.monotonic()
    job_id = deployment.ask(track["prose"], music_id=None, **parameters)
    job = deployment.ended(job_id, max_wait_s=PATIENCE_S)
    spent = time.monotonic() - began
    deployment.engine.refresh()
    document = read_result_document(deployment.engine, job_id)
    assert document is not None, f"seed {seed}: {job.status} {job.error}"
    truth = deployment.world(f"/_world/truth/{track['music_id']}")
    variants = document["variants"]["aweme_list"]
    judgement = judge(
        track["music_id"], document["ranked"], variants, to_ground_truth_videos(truth)
    )
    _print_errors(deployment, job_id, document, judgement)
    challenges = deployment.world("/_world/access-log/challenges")["challenges"]
    coverage = document["coverage"]
    detail = [entry for entry in coverage["decisions"] if entry["question"] == "detail"]
    return Scan(
        seed=seed,
        mode=mode,
        title=track["title"],
        pool=document["candidate_pool_size"],
        judgement=judgement,
        speed_error=_speed_error(variants, {work["aweme_id"]: work for work in truth["works"]}),
        seconds=spent,
        requests=deployment.world("/_world/access-log/summary")["surfaces"],
        after={one["surface"]: one["surface_after"] for one in challenges},
        stops={
            source["surface"]: source["stop_reason"]
            for source in coverage["sources"]
            if source["stop_reason"] not in EXHAUSTED_REASONS
        },
        details=(sum(one["answered"] for one in detail), sum(one["tried"] for one in detail)),
        media=_media(deployment),
    )


def _media(deployment: Deployment) -> dict[str, tuple[int, int]]:
    """Return the files served and requested per media host."""
    hosts: dict[str, tuple[int, int]] = {}
    for one in deployment.world("/_world/access-log/requests?surface=media&limit=100000")[
        "requests"
    ]:
        served, asked = hosts.get(one["host"], (0, 0))
        is_served = one["status"] in {200, 206}
        hosts[one["host"]] = (served + is_served, asked + 1)
    return hosts


def _reading(scans: list[Scan]) -> str:
    """Return what was read at which cost, and how sources ended, in one line."""
    read, asked = (sum(scan.details[at] for scan in scans) for at in (0, 1))
    stops = Counter(f"{name} {why}" for scan in scans for name, why in scan.stops.items())
    media: dict[str, tuple[int, int]] = {}
    for host, (served, wanted) in (pair for scan in scans for pair in scan.media.items()):
        before = media.get(host, (0, 0))
        media[host] = (before[0] + served, before[1] + wanted)
    return (
        f"{read} details in {asked} requests ({asked / max(read, 1):.2f}); stops {dict(stops)}; "
        f"media { ({host: f'{served} of {wanted}' for host, (served, wanted) in media.items()}) }"
    )


def _short(value: object) -> object:
    return round(value, 3) if isinstance(value, float) else value


def _speed_error(variants: list[dict[str, Any]], works: dict[str, dict[str, Any]]) -> float:
    off = []
    for video in variants:
        work = works.get(video["aweme_id"])
        if work is None or work["heard"] != "variant":
            console.print("  NO VARIANT", work or "not of this track", video["evidence"])
        else:
            off.append(abs(video["speed"] / work["speed"] - 1))
    return max(off, default=0.0)


def _print_errors(
    deployment: Deployment, job_id: str, document: dict[str, Any], judgement: Judgement
) -> None:
    confirmed = {video["aweme_id"]: video for video in document["ranked"]}
    for wrong in judgement.wrong:
        evidence = confirmed[wrong.aweme_id].get("evidence")
        label = "label true" if wrong.is_label_true else "label FALSE"
        console.print("  WRONG", wrong.link_type, wrong.sound, label, wrong.aweme_id, evidence)
    candidates = {row["aweme_id"]: row for row in read_candidates(deployment.engine, job_id)}
    for missed in judgement.missed:
        seen = candidates.get(missed.aweme_id, {"outcome": "not in the pool", "reason": None})
        console.print("  MISSED", missed, seen["outcome"], seen["reason"])


def _table(title: str, scans: list[Scan]) -> Table:
    table = Table(title=f"{title}: scan against ground truth, by link type")
    for name in (
        "", "confirmed", "label true", "carry it", "precision", "recall of reachable",
        "recall of all",
    ):  # fmt: skip
        table.add_column(name, justify="right" if name else "left")
    for row in _rows(scans):
        table.add_row(*row)
    pools = "/".join(str(scan.pool) for scan in scans)
    off = max(scan.speed_error for scan in scans)
    table.caption = (
        f"{', '.join(scan.title[:30] for scan in scans)}; pool {pools}; "
        f"speed of variants off by at most {off:.2%}; "
        f"{sum(scan.seconds for scan in scans):.1f} s"
    )
    return table


def _rows(scans: list[Scan]) -> Iterator[tuple[str, ...]]:
    found = [scan.judgement for scan in scans]
    for name in LINK_TYPES:
        links = [judgement.of(name) for judgement in found]
        right = sum(link.right_count for link in links)
        confirmed = sum(link.confirmed_count for link in links)
        yield (
            name, str(confirmed),
            _share(sum(link.true_label_count for link in links), confirmed),
            str(right), _share(right, confirmed),
            _share(sum(link.right_reachable_count for link in links),
                   sum(link.reachable_count for link in links)),
            _share(right, sum(link.carrying_count for link in links)),
        )  # fmt: skip
    others = [judgement.other_ids for judgement in found]
    yield (
        "other music ids, by either way of listening", "", "", "", "",
        _share(sum(one.found_reachable_count for one in others),
               sum(one.reachable_count for one in others)),
        _share(sum(one.found_count for one in others), sum(one.carrying_count for one in others)),
    )  # fmt: skip
    heard = sum(judgement.variants_matched for judgement in found)
    mistaken = sum(judgement.variants_confirmed for judgement in found)
    variants = sum(judgement.variant_count for judgement in found)
    yield ("variants", str(mistaken), "", "", "", "", _share(heard, variants))


def _share(part: int, whole: int) -> str:
    return f"{part}/{whole} = {part / whole:.3f}" if whole else "—"


if __name__ == "__main__":
    main()
