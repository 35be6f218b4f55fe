"""Two hundred drawn worlds: do the 95 % intervals and the bound of the random audit hold?

`python -m benchmarks.coverage [--worlds 200] [--draw N]`. Every second world is in the mode
autumn-2026. A scan has default parameters; its comparisons are looked up in the ground truth, so a
world takes half a second. Prints where it stands, every miss, and the number of the draw, which
repeats it.

The true number is that of the public videos under confirmed music ids that a guest could reach
(`round` of the ground truth), with those that the scan reached by other ways. The true number of
the audit is that of the comparable videos with the recording that were seen and are no candidates.
"""

import argparse
import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import mean, median, pstdev, quantiles

from rich.console import Console
from rich.table import Table

from benchmarks.coverage.drawn_scans import DrawnWorld, ScanSimulator
from pipelines.scan.rules.coverage import (
    ConfirmedSample,
    estimate_music_ids,
    estimate_videos,
    unseen_kinds,
)
from warehouse.records.coverage import CoverageEstimate

MODES = ("generous", "autumn-2026")
SIZES = (0.5, 1.0, 2.0)
ALTERED_SHARES = (0.0, 0.12, 0.3)
CROWDED_SHARE = 0.1
"""Worlds with few tracks have several times as many videos of each as a scan can take."""
CROWDED_TRACKS = 8
LEAST_WORLDS = 2  # for percentiles
console = Console(width=140)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedEstimate:
    """An estimate of one world with the true number."""

    mode: str
    found: CoverageEstimate
    true: int

    @property
    def is_held(self) -> bool:
        """Whether the interval holds the true number."""
        lower, upper = self.found.lower, self.found.upper
        return lower is not None and upper is not None and lower <= self.true <= upper


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedWorld:
    """The estimates of one world. `has_high_lower`: Chao's lower limit is above the true number.

    `audit_holds`: the bound of its audit is true; None if every video that was seen is a candidate.
    `capture_shares`: of each music id, the share of its reachable videos that sources showed.
    """

    drawn: DrawnWorld
    music_ids: JudgedEstimate
    videos: JudgedEstimate
    has_high_lower: bool
    audit_holds: bool | None
    audit_share: float | None
    capture_shares: tuple[float, ...]


def main() -> None:
    """Draw worlds, judge the estimates of a scan of each, and print what holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=200)
    parser.add_argument("--draw", type=int, default=random.SystemRandom().randrange(1, 1_000_000))
    options = parser.parse_args()
    console.print(f"draw {options.draw}, {options.worlds} worlds")
    judged = list(_judge_all(options.draw, options.worlds))
    console.print(_table(judged))
    _print_audits(judged)
    _print_spread(judged)
    lower = sum(world.has_high_lower for world in judged)
    console.print(f"Chao's own lower limit of the music ids is above the true number in {lower}")


def _judge_all(draw: int, count: int) -> Iterator[JudgedWorld]:
    """Judge every world; print each miss when it is met, and every ten worlds where it stands."""
    began, held = time.monotonic(), Counter[str]()
    for number, drawn in enumerate(draw_worlds(draw, count), start=1):
        world = _judge(drawn)
        held += Counter(music_ids=world.music_ids.is_held, videos=world.videos.is_held)
        _print_misses(world)
        if number % 10 == 0 or number == count:
            spent = time.monotonic() - began
            console.print(
                f"{spent:5.0f} s  {number} of {count} worlds; music ids held in "
                f"{held['music_ids']}, videos in {held['videos']}; "
                f"{count - number} to come, about {spent / number * (count - number):.0f} s"
            )
        yield world


def draw_worlds(draw: int, count: int) -> Iterator[DrawnWorld]:
    """Yield the worlds of a draw."""
    rng = random.Random(draw)
    for number in range(count):
        yield DrawnWorld(
            seed=rng.randrange(1, 1_000_000),
            size=rng.choice(SIZES),
            tracks=CROWDED_TRACKS if rng.random() < CROWDED_SHARE else None,
            altered_share=rng.choice(ALTERED_SHARES),
            mode=MODES[number % len(MODES)],
        )


def _judge(drawn: DrawnWorld) -> JudgedWorld:
    simulator = ScanSimulator(drawn)
    scan = simulator.run()
    sample = scan.to_sample()
    reachable = simulator.reachable()
    ids = {simulator.music_of(name) for name in reachable}
    return JudgedWorld(
        drawn=drawn,
        music_ids=JudgedEstimate(mode=drawn.mode, found=estimate_music_ids(sample), true=len(ids)),
        videos=JudgedEstimate(mode=drawn.mode, found=estimate_videos(sample), true=len(reachable)),
        has_high_lower=_chao_lower(sample) > len(ids),
        audit_holds=_audit_holds(simulator),
        audit_share=scan.audit.bound.share if scan.audit and scan.audit.bound else None,
        capture_shares=_capture_shares(simulator),
    )


def _capture_shares(simulator: ScanSimulator) -> tuple[float, ...]:
    """Return of each music id the share of its reachable videos that sources showed.

    Music lists do not count: they are read because their id is known.
    """
    shown = {seen.aweme_id for seen in simulator.scan.sightings if seen.surface != "music_list"}
    reachable = simulator.reachable()
    all_of = Counter(simulator.music_of(name) for name in reachable)
    shown_of = Counter(simulator.music_of(name) for name in reachable & shown)
    return tuple(shown_of[music_id] / number for music_id, number in all_of.items())


def _audit_holds(simulator: ScanSimulator) -> bool | None:
    """Return whether the bound is true; one that is not given is not."""
    audit = simulator.scan.audit
    if audit is None:
        return None
    return audit.bound is not None and simulator.carrying_left_out() <= audit.bound.count


def _chao_lower(sample: ConfirmedSample) -> int:
    """Return the log-normal lower limit of the ids; the limits are symmetric on the log scale."""
    if estimate_music_ids(sample).reason is not None:
        return sample.observed_ids
    unseen = unseen_kinds(sample.videos_per_id, size=sample.size, of_sources=False)
    return sample.observed_ids + int(unseen.point**2 / unseen.upper)


def _print_misses(world: JudgedWorld) -> None:
    for one in (world.music_ids, world.videos):
        if one.found.reason is None and not one.is_held:
            console.print("MISSED", world.drawn, one.found, "true", one.true)


def _print_audits(judged: list[JudgedWorld]) -> None:
    given = [one.audit_share for one in judged if one.audit_share is not None]
    nothing = sum(one.audit_holds is None for one in judged)
    held = sum(one.audit_holds is not False for one in judged)
    console.print(
        f"the bound of the random audit is true in {held} of {len(judged)}: in {nothing} of them "
        f"nothing is left out, so there is nothing to bound; median bound {median(given):.1%}"
    )


def _print_spread(judged: list[JudgedWorld]) -> None:
    """Print how differently the worlds show their videos to the sources of a scan."""
    for mode in MODES:
        worlds = [one for one in judged if one.drawn.mode == mode and one.capture_shares]
        if len(worlds) < LEAST_WORLDS:
            continue
        overall = quantiles([mean(one.capture_shares) for one in worlds], n=10)
        ids = quantiles([share for one in worlds for share in one.capture_shares], n=10)
        spreads = quantiles(
            [pstdev(one.capture_shares) / mean(one.capture_shares) for one in worlds
             if any(one.capture_shares)], n=10,
        )  # fmt: skip
        console.print(
            f"{mode}, 10th / 50th / 90th percentile: share of the videos of a music id that the "
            f"sources showed {_three(ids)}, its mean in a world {_three(overall)}, its coefficient "
            f"of variation in a world {_three(spreads)}"
        )


def _three(deciles: list[float]) -> str:
    return " / ".join(f"{deciles[place]:.2f}" for place in (0, 4, 8))


def _table(judged: list[JudgedWorld]) -> Table:
    table = Table(title="95 % intervals against what a guest could reach")
    for name in ("", "worlds", "held", "missed", "cannot be estimated", "upper limit / true"):
        table.add_column(name, justify="right" if name else "left")
    for unit in ("music ids", "videos"):
        every = [one.music_ids if unit == "music ids" else one.videos for one in judged]
        for mode in (*MODES, None):
            table.add_row(
                f"{unit}, {mode or 'all'}",
                *_row([one for one in every if mode in (None, one.mode)]),
            )
    return table


def _row(judged: list[JudgedEstimate]) -> tuple[str, ...]:
    given = [one for one in judged if one.found.reason is None]
    held = sum(one.is_held for one in given)
    reasons = Counter(one.found.reason for one in judged if one.found.reason is not None)
    ratios = [one.found.upper / one.true for one in given if one.found.upper is not None]
    why = ", ".join(f"{number} {reason}" for reason, number in reasons.items())
    return (
        str(len(judged)),
        str(held),
        str(len(given) - held),
        f"{reasons.total()} ({why})" if why else "0",
        f"median {median(ratios):.2f}" if ratios else "—",
    )


if __name__ == "__main__":
    main()
