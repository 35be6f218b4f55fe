"""The goals of the card, each on generated and on real audio: figure, and whether it is reached."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from benchmarks.accuracy.card.verdicts import Reached, at_least, at_most, never
from benchmarks.accuracy.figures import Share
from benchmarks.accuracy.full_range import edits, plan
from benchmarks.accuracy.full_range.measuring import family_share
from benchmarks.accuracy.full_range.pairs import STRANGER
from benchmarks.accuracy.full_range.rows import shown
from benchmarks.accuracy.pairs import COVERS, NARRATION
from benchmarks.accuracy.real import mixes

type Document = dict[str, Any]
type Rows = list[tuple[str, ...]]
type Cell = tuple[str, Reached]
HEAD = ("what", "goal", "generated audio", "reached", "real audio", "reached")
_OPEN: Cell = ("–", "not measured")
_NO_PAIRS = Share(hits=0, total=0)
_MASH_UPS, _LOOPS = (plan.MASH_UP, mixes.LEAD), (mixes.TWO_LOOPS, mixes.TWO_OF_THREE)
_FAR = 100_000
_SAME_NARRATION, _SAME_ENDINGS, _APART, _OTHER_MUSIC = 64, 48, 100, 1_000
_LIVE = (plan.LIVE,)
_NO_VERSIONS = (STRANGER, plan.SAME_DRUMS, mixes.JINGLE, mixes.NARRATION)
_STRETCHED = {plan.SPEED: "0.5–2.0", plan.TEMPO: "0.5–2.0", plan.PITCH: "−9…+12"}


@dataclass(frozen=True, slots=True)
class Side:
    """What was measured on one kind of audio, reported part; empty where nothing was.

    Attributes:
        labelled: Figures of the labelled pairs and their groups.
        edited: Figures of edited clips and of what must stay apart.
        unrelated: False accepts among random pairs.
    """

    labelled: Document
    edited: Document
    unrelated: Document

    def share(self, family: str, *labels: str) -> Share:
        """Accepted and all pairs of a family, or of some labels."""
        return family_share(self.edited.get("families", {}), family, *labels)

    def together(
        self, families: Sequence[str], of: Literal["confirmed", "named", "versions"]
    ) -> Share:
        """Pairs that are confirmed, told what they share, or called versions, and all."""
        return _summed([family_share(self.edited.get(of, {}), family) for family in families])

    def versions(self, *, of_covers: bool) -> Share:
        """Labelled pairs that are called versions, and all: of covers, or of other music."""
        return _summed([
            Share(hits=row["versions"], total=row["accepted"]["total"])
            for row in self.labelled.get("families", [])
            if row["truth"] == "different" and (row["family"] in COVERS) == of_covers
            and "versions" in row
        ])  # fmt: skip


def generated_side(document: Document) -> Side:
    """The figures on audio that the project makes."""
    return Side(
        document.get("reported", {}), document.get("range", {}), document.get("unrelated", {})
    )


def real_side(document: Document) -> Side:
    """The figures on real recordings."""
    real = document.get("real", {}).get("reported", {})
    return Side(real.get("labelled", {}), real, real.get("unrelated", {}))


@dataclass(frozen=True, slots=True)
class Goal:
    """One row: what is measured, the goal in words, and how a side does."""

    what: str
    goal: str
    judge: Callable[[Side], Cell]


def goal_rows(document: Document) -> Rows:
    """A row for each goal: both kinds of audio, then identification and cost."""
    sides = generated_side(document), real_side(document)
    rows: Rows = []
    for goal in GOALS:
        cells = [cell for side in sides for cell in goal.judge(side)]
        rows.append((goal.what, goal.goal, *cells))
    return [*rows, *_machine_rows(document)]


def _reaches(share: Share, least: float) -> Cell:
    return (shown(share), at_least(share, least)) if share.total else _OPEN


def _recall(what: str, least: float, family: str, *labels: str) -> Goal:
    return Goal(what, f"≥ {least:.2f}", lambda side: _reaches(side.share(family, *labels), least))


def _edit_goals() -> list[Goal]:
    """A row for each value of each edit, so that no good value hides a bad one."""
    rows = dict.fromkeys(
        (case.family, "" if case.family in edits.SUMMED else case.label) for case in edits.EDITS
    )
    goals = []
    for family, label in rows:
        least = edits.GOALS[family]
        if (family, label) in edits.BEYOND_UNEVEN:
            least = edits.USUAL
        goals.append(_recall(f"{family} {label}".strip(), least, family, *filter(None, (label,))))
    return goals


def _labelled_share(name: str, row: str = "main") -> Callable[[Side], Share]:
    def share(side: Side) -> Share:
        return _share(side.labelled["summary"][row][name]) if side.labelled else _NO_PAIRS

    return share


def _of_labelled(what: str, least: float, share: Callable[[Side], Share]) -> Goal:
    return Goal(what, f"≥ {least:.2f}", lambda side: _reaches(share(side), least))


def _precision_at_threshold(side: Side) -> Cell:
    share = _labelled_share("precision")(side)
    return (shown(share), never(share.total - share.hits, share.total)) if share.total else _OPEN


def _false_confirmations(side: Side) -> Cell:
    rows = [
        row for row in side.labelled.get("families", [])
        if row["truth"] == "different" and row["family"] != NARRATION
    ]  # fmt: skip
    return _never(Share(
        hits=sum(row["confirmed"] for row in rows),
        total=sum(row["accepted"]["total"] for row in rows),
    ))  # fmt: skip


def _never(share: Share) -> Cell:
    if not share.total:
        return _OPEN
    return f"{share.hits} of {share.total:,}", never(share.hits, share.total)


def _at_most(share: Share, most: int, tried: int) -> Cell:
    if not share.total:
        return _OPEN
    return f"{share.hits} of {share.total:,}", at_most(share, most, tried)


def _narration(side: Side) -> Cell:
    mixed = side.share(mixes.NARRATION)
    made = [
        _share(row["accepted"]) for row in side.labelled.get("families", [])
        if row["family"] == NARRATION
    ]  # fmt: skip
    hits = mixed.hits + sum(share.hits for share in made)
    total = mixed.total + sum(share.total for share in made)
    return _at_most(Share(hits=hits, total=total), 1, _SAME_NARRATION)


def _groups(precision: Share, recall: Share) -> Cell:
    if not recall.total:
        return _OPEN
    right = never(precision.total - precision.hits, precision.total)
    found = at_least(recall, 0.98)
    reached = found if right == "yes" else right
    return f"{shown(precision)} / {shown(recall)}", reached


def _labelled_groups(side: Side) -> Cell:
    if not side.labelled:
        return _OPEN
    groups = side.labelled["groups"]
    return _groups(_share(groups["precision"]), _share(groups["recall"]))


def _edited_groups(side: Side) -> Cell:
    groups = side.edited.get("groups")
    return _groups(_counts(groups["precision"]), _counts(groups["recall"])) if groups else _OPEN


def _precision_of_edits(side: Side) -> Cell:
    """Of all that is accepted here, the same recording against everything else."""
    families: Document = side.edited.get("families", {})
    hits = {True: 0, False: 0}
    for name, family in families.items():
        hits[family["truth"] != "different"] += family_share(families, name).hits
    return _reaches(Share(hits=hits[True], total=hits[True] + hits[False]), 0.99)


def _called_others(side: Side) -> Cell:
    parts = [part for part in (side.labelled, side.edited) if "called_others" in part]
    if not parts:
        return _OPEN
    hits, total = (sum(part["called_others"][name] for part in parts) for name in ("hits", "total"))
    return f"{hits} of {total:,} rejected copies", never(hits, 1)


def _found_versions(side: Side) -> Share:
    """Covers and live performances that are called versions, and all."""
    return _summed([side.versions(of_covers=True), side.together(_LIVE, "versions")])


def _false_versions(side: Side) -> Share:
    """Pairs of other music that are called versions, and all."""
    searched = side.unrelated.get("searched", {})
    unrelated = [_share(searched["versions"])] if "versions" in searched else []
    other = [side.versions(of_covers=False), side.together(_NO_VERSIONS, "versions")]
    return _summed([*other, *unrelated])


def _precision_of_versions(side: Side) -> Cell:
    found, false = _found_versions(side), _false_versions(side)
    if not found.total or not false.total:
        return _OPEN
    return _reaches(Share(hits=found.hits, total=found.hits + false.hits), 0.98)


def _summed(shares: Sequence[Share]) -> Share:
    return Share(hits=sum(one.hits for one in shares), total=sum(one.total for one in shares))


def _confirmed(what: str, families: Sequence[str], tried: int) -> Goal:
    return Goal(
        what, f"0 of {tried}",
        lambda side: _at_most(side.together(families, "confirmed"), 0, tried),
    )  # fmt: skip


def _unrelated(side: Side) -> Cell:
    searched = side.unrelated.get("searched")
    return _at_most(_share(searched["accepted"]), 0, _FAR) if searched else _OPEN


def _share(share: Document) -> Share:
    return Share(hits=share["hits"], total=share["total"])


def _counts(counts: list[int]) -> Share:
    return Share(hits=counts[0], total=counts[1])


GOALS: tuple[Goal, ...] = (
    _of_labelled("labelled pairs: recall at precision 0.99", 0.98,
                 _labelled_share("recall_at_p99")),
    Goal("labelled pairs: precision at 0.65", "1.000", _precision_at_threshold),
    _of_labelled("labelled pairs: recall at 0.65", 0.97, _labelled_share("recall", "all")),
    Goal("labelled pairs: false pairs confirmed", "0", _false_confirmations),
    Goal("groups of labelled pairs: precision / recall", "1.00 / 0.98", _labelled_groups),
    *(
        _recall(f"{name} {values}, off the grid", 0.95, name)
        for name, values in _STRETCHED.items()
    ),
    _recall("pitch with speed 0.66–1.5", 0.90, plan.TAPE_PITCH),
    _recall("slowed + reverb", 0.90, plan.SLOWED),
    _recall("nightcore + voice", 0.90, plan.NIGHTCORE),
    _recall("excerpts of 3 s", 0.90, plan.EXCERPT, "3 s"),
    _recall("excerpts of 2 s", 0.75, plan.EXCERPT, "2 s"),
    _recall("voice over music +3 dB", 0.80, plan.VOICE, "3 dB"),
    _recall("voice over music +6 dB", 0.60, plan.VOICE, "6 dB"),
    _recall("tempo × pitch edited together", 0.90, plan.BOTH),
    *_edit_goals(),
    Goal("precision of all edits, with what must stay apart", "≥ 0.99", _precision_of_edits),
    Goal("groups of edited clips: precision / recall", "1.00 / 0.98", _edited_groups),
    Goal("edited clips of another track accepted", "0", lambda side: _never(side.share(STRANGER))),
    Goal("unrelated pairs accepted, through the full search", "0 of 100,000", _unrelated),
    _confirmed("same score, other sound font, exact timing: confirmed", (plan.SAME_SCORE,), _APART),
    _confirmed("same score by two sampled pianos, exact timing: confirmed", (plan.PIANOS,), _APART),
    Goal(f"{mixes.NARRATION}: accepted", "≤ 1 of 64", _narration),
    Goal(
        f"{mixes.JINGLE}: accepted", "≤ 1 of 48",
        lambda side: _at_most(side.share(mixes.JINGLE), 1, _SAME_ENDINGS),
    ),
    _confirmed("mash-ups confirmed", _MASH_UPS, _APART),
    Goal(
        "mash-ups: the shared part named", "≥ 0.80",
        lambda side: _reaches(side.together(_MASH_UPS, "named"), 0.80),
    ),
    Goal(
        "songs of the same loops confirmed", "0",
        lambda side: _never(side.together(_LOOPS, "confirmed")),
    ),
    Goal("versions found", "≥ 0.90", lambda side: _reaches(_found_versions(side), 0.90)),
    Goal("versions: precision", "≥ 0.98", _precision_of_versions),
    Goal(
        "versions found under speech at 0 dB", "≥ 0.85",
        lambda side: _reaches(side.together((plan.SPOKEN_COVER,), "versions"), 0.85),
    ),
    Goal(
        "other music called a version", "≤ 1 of 1,000",
        lambda side: _at_most(_false_versions(side), 1, _OTHER_MUSIC),
    ),
    Goal("rejected copies called shared voice or other tones", "0", _called_others),
)  # fmt: skip


def _machine_rows(document: Document) -> Rows:
    """Identification, and cost, which depends on the machine: its goals are plain limits."""
    identified = document.get("identify")
    top = _reaches(_share(identified), 0.97) if identified else _OPEN
    count = f"{identified['references']:,}" if identified else "1,000"
    rows: Rows = [
        (f"identify, {count} references, 15 stretch factors: top-1", "≥ 0.97", *top, *_OPEN)
    ]
    timing = document.get("timing", {})
    ratio = timing["clip_ms"] / timing["fpcalc_ms"] if "fpcalc_ms" in timing else None
    limits = (
        ("a new 21 s clip", timing.get("clip_ms"), 60.0, "ms"),
        ("a new 21 s clip, relative to fpcalc", ratio, 1.0, ""),
        ("a cached pair", timing.get("pair_ms"), 2.0, "ms"),
        ("a pair with full search, cold", timing.get("cold_searched_ms"), 30.0, "ms"),
        ("the version score of a rejected pair", timing.get("version_ms"), 3.0, "ms"),
        ("a cold process to its first verdict, processor time", timing.get("cold_cpu_s"), 3.0, "s"),
    )
    for what, value, limit, unit in limits:
        figure = "–" if value is None else f"{value:.2f} {unit}".strip()
        reached = "not measured" if value is None else "yes" if value <= limit else "no"
        rows.append((what, f"≤ {limit:g} {unit}".strip(), figure, reached, *_OPEN))
    return rows
