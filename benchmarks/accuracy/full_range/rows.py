"""The full range as rows of the accuracy card: families, tools beside each other, and the goals."""

from typing import Any

from benchmarks.accuracy.figures import Share
from benchmarks.accuracy.full_range import plan
from benchmarks.accuracy.full_range.measuring import family_share
from benchmarks.accuracy.full_range.pairs import APART, STRANGER

type Document = dict[str, Any]
type Rows = list[tuple[str, ...]]
type Goal = tuple[str, str, str, bool | None]
"""What is measured, the goal, the figure as text, and whether it is reached (None: unknown)."""
FAMILY_HEAD = ("edit", "found", "by value")
GOAL_HEAD = ("what", "goal", "reported", "reached")
_WORDS = {
    "first": "earlier release", "chromaprint": "Chromaprint", "landmarks": "landmarks (audfprint2)",
}  # fmt: skip
_LEAST_PRECISION = 0.99
_FAR = 100_000
_MOST_RATIO = 1.1
_STRETCHED = (plan.SPEED, plan.TEMPO, plan.PITCH)


def shown(share: Share, digits: int = 3) -> str:
    """A share with Wilson's 95 % interval."""
    if not share.total:
        return "not measured"
    low, high = (f"{bound:.{digits}f}" for bound in share.interval)
    return f"{share.value:.{digits}f} [{low}, {high}] of {share.total:,}"


def family_rows(measured: Document) -> Rows:
    """One row per family of edits that should be found."""
    return [
        (name, shown(family_share(measured["families"], name)), _by_value(family["labels"]))
        for name, family in measured["families"].items()
        if family["truth"] != "different"
    ]


def apart_rows(measured: Document) -> Rows:
    """One row per family that must be rejected: accepted, and of it confirmed."""
    return [
        (
            name,
            shown(family_share(measured["families"], name)),
            str(family_share(measured["confirmed"], name).hits),
        )
        for name, family in measured["families"].items()
        if family["truth"] == "different"
    ]


def tool_rows(measured: Document) -> tuple[tuple[str, ...], Rows]:
    """Recall of each tool by family, each at its best threshold of precision 0.99 here."""
    tools = measured["others"]
    head = ("recall", "matcher", *(_WORDS[name] for name in tools))
    rows: Rows = []
    for name, family in measured["families"].items():
        if family["truth"] == "different":
            continue
        shares = [family_share(one["families"], name) for one in tools.values()]
        cells = (f"{one.value:.2f}" for one in (family_share(measured["families"], name), *shares))
        rows.append((f"{name} ({family_share(measured['families'], name).total})", *cells))
    thresholds = (f"{one['threshold']:.3g}" for one in tools.values())
    rows.append(("accepted from a score of", "0.65", *thresholds))
    return head, rows


def _by_value(labels: Document) -> str:
    return ", ".join(
        f"{label}: {one['hits']} of {one['total']}" if label else f"{one['hits']} of {one['total']}"
        for label, one in labels.items()
    )


def goal_rows(document: Document) -> Rows:
    """The goals of the full range, each with its figure and whether it is reached."""
    goals = [
        *_main_goals(document), *_range_goals(document), *_cost_goals(document),
    ]  # fmt: skip
    words = {True: "yes", False: "no", None: "open"}
    return [(what, goal, figure, words[is_met]) for what, goal, figure, is_met in goals]


def _main_goals(document: Document) -> list[Goal]:
    if "reported" not in document:
        return [("labelled pairs and their groups", "below", "not in this run", None)]
    part = document["reported"]
    recall = _share(part["summary"]["main"]["recall_at_p99"])
    families = {row["family"]: row["accepted"] for row in part["families"]}
    narrated = _share(families["NEG same narration, other music"])
    false = sum(
        row["confirmed"] for row in part["families"]
        if row["truth"] == "different" and row["family"] != "NEG same narration, other music"
    )  # fmt: skip
    return [
        ("labelled pairs: recall at precision 0.99", "≥ 0.98", shown(recall), recall.value >= 0.98),
        ("labelled pairs: false pairs confirmed", "0", str(false), false == 0),
        ("same narration, other music: accepted", "≤ 1 of 22", shown(narrated),
         narrated.hits * 22 <= narrated.total),
        *_group_goals(_share(part["groups"]["precision"]), _share(part["groups"]["recall"]),
                      "groups of labelled pairs"),
    ]  # fmt: skip


def _group_goals(precision: Share, recall: Share, what: str) -> list[Goal]:
    is_met = precision.value >= 1.0 and recall.value >= 0.98
    return [(f"{what}: precision / recall", "1.00 / 0.98",
             f"{shown(precision)} / {shown(recall)}", is_met)]  # fmt: skip


def _range_goals(document: Document) -> list[Goal]:
    if "range" not in document:
        return []
    measured = document["range"]
    families, confirmed = measured["families"], measured["confirmed"]
    strangers = family_share(families, STRANGER)

    def at_least(what: str, least: float, family: str, *labels: str) -> Goal:
        share = family_share(families, family, *labels)
        is_met = share.value >= least if share.total else None
        return what, f"≥ {least:.2f}", shown(share), is_met

    same_score = family_share(confirmed, plan.SAME_SCORE)
    ranges = {plan.SPEED: "0.5–2.0", plan.TEMPO: "0.5–2.0", plan.PITCH: "−9…+12"}
    return [
        *(at_least(f"{name} {ranges[name]}, off the grid", 0.95, name) for name in _STRETCHED),
        _precision_goal(families),
        at_least("pitch with speed 0.66–1.5", 0.90, plan.TAPE_PITCH),
        at_least("slowed + reverb", 0.90, plan.SLOWED),
        at_least("nightcore + voice", 0.90, plan.NIGHTCORE),
        at_least("excerpts of 3 s", 0.90, plan.EXCERPT, "3 s"),
        at_least("excerpts of 2 s", 0.75, plan.EXCERPT, "2 s"),
        at_least("voice over music +3 dB", 0.80, plan.VOICE, "3 dB"),
        at_least("voice over music +6 dB", 0.60, plan.VOICE, "6 dB"),
        ("voice over music +9 dB", "reported",
         shown(family_share(families, plan.VOICE, "9 dB")), True),
        at_least("tempo × pitch edited together", 0.90, plan.BOTH),
        ("same score, other sound font, exact timing: confirmed", "0 of 100",
         f"{same_score.hits} of {same_score.total}",
         same_score.hits == 0 if same_score.total >= plan.SAME_SCORES else None),
        *_group_goals(_counts(measured["groups"]["precision"]),
                      _counts(measured["groups"]["recall"]), "groups of edited clips"),
        ("edited clips of another track accepted", "0",
         f"{strangers.hits} of {strangers.total}", strangers.hits == 0),
    ]  # fmt: skip


def _precision_goal(families: Document) -> Goal:
    """Of all that is accepted here, edits of the same recording against everything else."""
    right = sum(
        family_share(families, name).hits
        for name, family in families.items() if family["truth"] != "different"
    )  # fmt: skip
    wrong = sum(family_share(families, name).hits for name in (*APART, STRANGER))
    share = Share(hits=right, total=right + wrong)
    return ("precision of all edits, with what must stay apart", "≥ 0.99", shown(share),
            share.value >= _LEAST_PRECISION)  # fmt: skip


def _cost_goals(document: Document) -> list[Goal]:
    return [_unrelated_goal(document), _identify_goal(document), *_timing_goals(document)]


def _unrelated_goal(document: Document) -> Goal:
    what, goal = "unrelated pairs accepted, through the full search", "0 of 100,000"
    found = document.get("unrelated", {}).get("searched")
    if found is None:
        return what, goal, "–", None
    hits, pairs = found["accepted"]["hits"], found["pairs"]
    is_met = hits == 0 if pairs >= _FAR or hits else None
    return what, goal, f"{hits} of {pairs:,}", is_met


def _identify_goal(document: Document) -> Goal:
    found = document.get("identify")
    if found is None:
        return "identify, 1,000 references, 15 stretch factors: top-1", "≥ 0.97", "–", None
    top = _share(found)
    what = f"identify, {found['references']:,} references, 15 stretch factors: top-1"
    return what, "≥ 0.97", shown(top), top.value >= 0.97


def _timing_goals(document: Document) -> list[Goal]:
    timing = document.get("timing", {})
    most = {
        "a new 21 s clip": ("clip_ms", 60.0, "ms"),
        "a cached pair": ("pair_ms", 1.2, "ms"),
        "a pair with full search, cold": ("cold_searched_ms", 25.0, "ms"),
        "a cold process to its first verdict, processor time": ("cold_cpu_s", 1.2, "s"),
    }
    goals: list[Goal] = []
    for what, (name, limit, unit) in most.items():
        value = timing.get(name)
        figure = "–" if value is None else f"{value:.2f} {unit}"
        is_met = None if value is None else value <= limit
        goals.append((what, f"≤ {limit:g} {unit}", figure, is_met))
    ratio = None if "fpcalc_ms" not in timing else timing["clip_ms"] / timing["fpcalc_ms"]
    figure = "–" if ratio is None else f"{ratio:.2f}"
    is_met = None if ratio is None else ratio <= _MOST_RATIO
    return [*goals, ("a new 21 s clip, relative to fpcalc", "≤ 1.1", figure, is_met)]


def _share(share: Document) -> Share:
    return Share(hits=share["hits"], total=share["total"])


def _counts(counts: list[int]) -> Share:
    return Share(hits=counts[0], total=counts[1])
