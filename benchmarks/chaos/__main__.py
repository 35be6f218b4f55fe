"""`make chaos`: every operation under every fault, then scans under faults, in rounds from a seed.

Prints the seed, each case or round when it is over, and tables at the end. Status 1: a promise was
broken, each with its seed and round.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.chaos.endpoints import NAMED, PLATFORM_READS, Answered, Ids, ask
from benchmarks.chaos.faults import FAULTS, ProxyFault
from benchmarks.chaos.proxy import FaultProxy, open_proxy
from benchmarks.chaos.scans import SEED, SIZE, Campaign, open_campaign
from tests.deployment import Deployment, open_deployment

console = Console(width=150)


@contextmanager
def open_platform(root: Path, cache: Path) -> Iterator[tuple[FaultProxy, Ids]]:
    """A sandbox behind the proxy, and ids that it has."""
    with open_deployment(root, cache) as deployment:
        deployment.start_platform(seed=SEED, size=SIZE)
        with open_proxy(deployment.port) as proxy:
            ids = ids_of(deployment, proxy.port)
            ask("user_profile", ids, proxy, None)  # libraries and connections that stay
            yield proxy, ids


def ids_of(deployment: Deployment, port: int) -> Ids:
    """Something of each kind; its link leads through the proxy."""
    track = deployment.world("/_world/tracks?counts=0")["tracks"][0]
    account = deployment.world("/_world/accounts?limit=1")["accounts"][0]
    return Ids(
        music_id=track["music_id"],
        aweme_id=deployment.world("/_world/works?limit=1")["works"][0]["aweme_id"],
        sec_uid=account["sec_uid"],
        ch_id=deployment.world("/_world/hashtags?limit=1")["hashtags"][0]["ch_id"],
        user_link=account["short_link"].replace(str(deployment.port), str(port)),
    )


def run_endpoints(proxy: FaultProxy, ids: Ids, faults: list[ProxyFault]) -> list[Answered]:
    """Every read of the platform under each fault; the others under one fault each, in turn."""
    found = [ask(name, ids, proxy, None) for name in NAMED]
    for fault in faults:
        found += [ask(name, ids, proxy, fault) for name in NAMED if name in PLATFORM_READS]
        broken = [one for one in found if one.problem]
        console.print(f"{fault.name}: {len(found)} cases so far, {len(broken)} broken")
    others = [name for name in NAMED if name not in PLATFORM_READS]
    found += [
        ask(name, ids, proxy, faults[number % len(faults)]) for number, name in enumerate(others)
    ]
    return found


def run_scans(campaign: Campaign, *, runs: int, at_a_time: int, until: float) -> None:
    """Rounds until there were so many scans, or the time is over."""
    console.print(f"open files, threads, processes at rest: {campaign.measure()}")
    while campaign.number < runs and time.monotonic() < until:
        began = time.monotonic()
        before = len(campaign.problems)
        name = campaign.round(min(at_a_time, runs - campaign.number))
        spent_s = time.monotonic() - began
        console.print(
            f"{campaign.number:5} scans  {spent_s:5.0f} s  {name:40} held {campaign.measure()}",
            highlight=False,
        )
        for problem in campaign.problems[before:]:
            console.print(f"      {problem}", markup=False)


def show_endpoints(found: list[Answered]) -> None:
    table = Table("operation", "fault", "status", "error", "seconds", "requests", "problem")
    for one in found:
        table.add_row(
            one.operation, one.fault, str(one.status), one.error or "", f"{one.seconds:.1f}",
            str(one.requests), one.problem,
        )  # fmt: skip
    console.print(table)


def show_scans(campaign: Campaign) -> None:
    for title, counted in (
        ("ends of scans", campaign.outcomes),
        ("stop reasons of their sources", campaign.stops),
        ("faults applied", campaign.proxy.applied),
    ):
        table = Table(title, "times")
        for name, times in counted.most_common():
            table.add_row(name, f"{times:,}")
        console.print(table)
    console.print(
        f"{campaign.number:,} scans, {campaign.outcomes['hung']} hung, "
        f"{campaign.proxy.requests:,} requests, {campaign.proxy.applied.total():,} faults, "
        f"{len(campaign.rows_before):,} acknowledged captures, none lost; "
        f"leaked: {campaign.leaks() or 'nothing'}; {len(campaign.problems)} promises broken"
    )


def main() -> int:
    """Run what the options name."""
    options = _options()
    console.print(f"seed {options.seed}")
    is_broken = False
    with tempfile.TemporaryDirectory() as folder:
        root, cache = Path(folder), Path(options.sounds or folder) / "sounds"
        if options.endpoints:
            (root / "endpoints").mkdir()
            with open_platform(root / "endpoints", cache) as (proxy, ids):
                found = run_endpoints(proxy, ids, list(FAULTS))
            show_endpoints(found)
            is_broken = any(one.problem for one in found)
        if options.runs:
            until = time.monotonic() + options.minutes * 60
            with open_campaign(
                root / "scans", cache, seed=options.seed, runs=options.at_a_time
            ) as campaign:
                with suppress(KeyboardInterrupt):  # what has been seen until then is shown
                    run_scans(campaign, runs=options.runs, at_a_time=options.at_a_time, until=until)
                show_scans(campaign)
            is_broken |= bool(campaign.problems)
    return 1 if is_broken else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000, help="scans under faults; 0 for none")
    parser.add_argument("--at-a-time", type=int, default=4)
    parser.add_argument("--minutes", type=float, default=600.0, help="begin no round after it")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    parser.add_argument("--no-endpoints", dest="endpoints", action="store_false")
    parser.add_argument("--sounds", default="", help="keep rendered sounds in this folder")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
