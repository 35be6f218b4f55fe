"""What a week should have shown, by what the platform knows, and where a digest or series differs.

Written apart from the product's own comparing: it shares no code with it but the hot score's
weights, which are the interface's.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from api.services.series import read_series
from tests.watchlists.simulated_week import Step, Truth, Week
from warehouse.records.videos import HOT_SCORE_WEIGHTS
from warehouse.records.watchlists import DigestThresholds, WatchlistRun

COUNTS = ("digg_count", "comment_count", "collect_count", "share_count")
NEAR = 0.01
"""Velocities so near to the threshold depend on the second in which a page was read."""


@dataclass
class Verdict:
    """What was compared, and every difference as a sentence."""

    named: int = 0
    points: int = 0
    too_near: int = 0
    deviations: list[str] = field(default_factory=list)


def confirmed_by_truth(truth: Truth) -> Truth:
    """The works that a complete scan shows: public, at normal speed, within a guest's reach."""
    return {
        name: work
        for name, work in truth.items()
        if work["is_public"] and work["relation"] == "same" and work["round"] is not None
    }


def judge_digests(week: Week, verdict: Verdict) -> None:
    """Each digest against what changed between the two moments that it compares."""
    earlier: dict[str, tuple[Step, Truth]] = {}
    for step, run in zip(week.steps, week.runs(), strict=True):
        for entry in _entries(run):
            if entry["status"] != "completed":
                continue
            music_id = entry["subject"]
            now = step.truth[music_id]
            if music_id in earlier:
                before_step, before = earlier[music_id]
                days = (step.due_at - before_step.due_at).total_seconds() / 86_400
                expected = _Expected(before, now, days, week.thresholds)
                _judge(f"{step.due_at:%d %H:%M} {music_id}", entry, expected, verdict)
            elif entry["changes"]["change_count"]:
                verdict.deviations.append(f"{music_id}: a first look that names a change")
            earlier[music_id] = step, now


def _entries(run: WatchlistRun) -> list[dict[str, Any]]:
    assert run.digest is not None, run
    return list(run.digest["entries"])


class _Expected:
    """What changed between two moments, by kind, as the digest would name it."""

    def __init__(
        self, before: Truth, now: Truth, days: float, thresholds: DigestThresholds
    ) -> None:
        then, since = confirmed_by_truth(before), confirmed_by_truth(now)
        both = sorted(then.keys() & since.keys())
        ids_then, ids_now = _music_ids(then), _music_ids(since)
        speed = {name: (_hot(since[name]) - _hot(then[name])) / days for name in both}
        limit = thresholds.velocity or float("inf")
        self.near = {name for name, one in speed.items() if abs(one / limit - 1) < NEAR}
        self.changes: dict[str, set[Any]] = {
            "new_works": set(since.keys() - then.keys()),
            "vanished_works": {
                (name, _reason(now.get(name))) for name in then.keys() - since.keys()
            },
            "new_music_ids": ids_now - ids_then,
            "fast_works": {name for name, one in speed.items() if one >= limit} - self.near,
            "rank_changes": set(_moved(then, since, both, thresholds.rank_change or 10**9)),
        }


def _judge(where: str, entry: dict[str, Any], expected: _Expected, verdict: Verdict) -> None:
    changes = entry["changes"]
    named: dict[str, set[Any]] = {
        "new_works": {one["aweme_id"] for one in changes["new_works"]},
        "vanished_works": {(one["aweme_id"], one["reason"]) for one in changes["vanished_works"]},
        "new_music_ids": {one["music_id"] for one in changes["new_music_ids"]},
        "fast_works": {one["aweme_id"] for one in changes["fast_works"]} - expected.near,
        "rank_changes": {
            (one["aweme_id"], one["before"], one["after"]) for one in changes["rank_changes"]
        },
    }
    verdict.too_near += len(expected.near)
    for kind, wanted in expected.changes.items():
        verdict.named += len(named[kind])
        for one in sorted(map(str, named[kind] - wanted)):
            verdict.deviations.append(f"{where}: {kind} names {one}, which did not happen")
        for one in sorted(map(str, wanted - named[kind])):
            verdict.deviations.append(f"{where}: {kind} does not name {one}")


def _music_ids(works: Truth) -> set[str]:
    return {work["music_id"] for work in works.values()}


def _reason(work: dict[str, Any] | None) -> str | None:
    """The platform's own word for a work that is named in a list but not shown any more."""
    return "status_deleted" if work is not None and work["is_listed"] else None


def _moved(
    then: Truth, since: Truth, both: list[str], least: int
) -> Iterator[tuple[str, int, int]]:
    """Works that moved by so many places, one of them within the 15 that are watched."""
    before, after = _places(then), _places(since)
    for name in both:
        old, new = before[name], after[name]
        if abs(old - new) >= least and min(old, new) <= 15:
            yield name, old, new


def _hot(work: Mapping[str, int]) -> int:
    return sum(weight * work[name] for name, weight in HOT_SCORE_WEIGHTS.items())


def _places(works: Truth) -> dict[str, int]:
    order = sorted(works, key=lambda name: (-_hot(works[name]), int(name)))
    return {name: place for place, name in enumerate(order, 1)}


def judge_series(week: Week, verdict: Verdict) -> None:
    """Each point of each work that was confirmed, and each total of a track, against the truth."""
    week.deployment.engine.refresh()
    for music_id in week.tracks:
        for aweme_id in _ever_confirmed(week, music_id):
            _judge_work(week, music_id, aweme_id, verdict)
        _judge_total(week, music_id, verdict)


def _judge_work(week: Week, music_id: str, aweme_id: str, verdict: Verdict) -> None:
    points: Any = read_series(week.deployment.engine, "video", aweme_id, is_demo=True)["points"]
    looked_at = set[datetime]()
    for point in points:
        step = _step_of(week, point["observed_at"])
        truth = step.truth[music_id][aweme_id]
        verdict.points += 1
        for name in COUNTS:
            if not _fits(point, name, truth[name]):
                verdict.deviations.append(
                    f"{aweme_id} at {point['observed_at']}: {name} is {point[name]}, "
                    f"truly {truth[name]}"
                )
        if point["is_exact"] and all(point[name] is not None for name in COUNTS):
            looked_at.add(step.due_at)
    for due_at in _confirmed_at(week, music_id, aweme_id) - looked_at:
        verdict.deviations.append(f"{aweme_id}: no complete point at {due_at}")


def _fits(point: dict[str, Any], name: str, truth: int) -> bool:
    """Unknown fits anything; a rounded count is a range."""
    if point[name] is None or (point["is_exact"] and point[name] == truth):
        return True
    low, high = (point["ranges"] or {}).get(name, (point[name], point[name]))
    return not point["is_exact"] and low <= truth <= high


def _judge_total(week: Week, music_id: str, verdict: Verdict) -> None:
    """The track's own series: all works confirmed until then, each as last seen."""
    known: dict[str, dict[str, Any]] = {}
    points: Any = read_series(week.deployment.engine, "track", music_id, is_demo=True)["points"]
    by_due = {_step_of(week, point["observed_at"]).due_at: point for point in points}
    for step, run in zip(week.steps, week.runs(), strict=True):
        look = next(one for one in _entries(run) if one["input"] == music_id)
        known |= confirmed_by_truth(step.truth[music_id])
        if look["status"] != "completed":
            continue
        verdict.points += 1
        point = by_due.get(step.due_at, {})
        wanted = {name: sum(work[name] for work in known.values()) for name in COUNTS}
        found = {name: point.get(name) for name in COUNTS}
        if found != wanted or point.get("work_count") != len(known):
            verdict.deviations.append(
                f"track {music_id} at {step.due_at}: {found} of {point.get('work_count')} works, "
                f"truly {wanted} of {len(known)}"
            )


def _ever_confirmed(week: Week, music_id: str) -> set[str]:
    return set[str]().union(
        *(confirmed_by_truth(step.truth[music_id]) for step in week.steps)
    )  # fmt: skip


def _confirmed_at(week: Week, music_id: str, aweme_id: str) -> set[datetime]:
    """Due times whose look at the track went well while the work was to be seen."""
    return {
        step.due_at
        for step, run in zip(week.steps, week.runs(), strict=True)
        for entry in _entries(run)
        if entry["input"] == music_id and entry["status"] == "completed"
        and aweme_id in confirmed_by_truth(step.truth[music_id])
    }  # fmt: skip


def _step_of(week: Week, observed_at: str) -> Step:
    """The due time behind an observation: the last one before it."""
    moment = datetime.fromisoformat(observed_at).astimezone(UTC)
    return next(step for step in reversed(week.steps) if step.due_at <= moment)
