"""The accuracy card: one document of figures as tables, for the console and for `docs/`.

What belongs here: words and tables. Figures come ready from `accuracy.py` and `timing.py`.
"""

from pathlib import Path
from typing import Any

from rich.table import Table

from benchmarks.accuracy.card import card_rows as rows
from benchmarks.accuracy.card import goals
from benchmarks.accuracy.card.card_text import CLOSING, METHOD
from benchmarks.accuracy.card.plots import recall_plot, score_plot
from benchmarks.accuracy.full_range import rows as range_rows
from benchmarks.accuracy.full_range.curves import range_curves
from benchmarks.accuracy.sounds.clips import FAMILIES
from benchmarks.leaderboard import section as leaderboard
from warehouse.records.evidence import VERDICT_REVISION

type Document = dict[str, Any]
type Section = tuple[str, tuple[str, ...], rows.Rows]
_THRESHOLD = 0.65


def console_tables(document: Document) -> list[Table]:
    """What `make bench-audio` prints: the card's tables, and those of the choosing part."""
    tables = []
    for title, head, lines in [*_sections(document), *_choosing(document)]:
        table = Table(title=title, title_justify="left", box=None)
        for name in head:
            table.add_column(name)
        for row in lines:
            table.add_row(*row)
        tables.append(table)
    return tables


def write_card(document: Document, folder: Path) -> bool:
    """`accuracy.md` and its pictures; the choosing part is left out.

    Returns:
        Whether it was written: a card without the labelled pairs of generated audio would be half
        a card, and is not.
    """
    if "reported" not in document:
        return False
    folder.mkdir(exist_ok=True)
    if "range" in document:
        curves = range_curves(document["range"])
        (folder / "accuracy-range.svg").write_text(curves, encoding="utf-8")
    reported = document["reported"]
    plot = score_plot(reported["scores"], threshold=_THRESHOLD)
    (folder / "accuracy-scores.svg").write_text(plot, encoding="utf-8")
    recalls = [
        (row["family"], *(row["accepted"][name] for name in ("value", "low", "high")))
        for row in reported["families"]
        if row["truth"] != "different"
    ]
    order = [family.name for family in FAMILIES]
    recalls.sort(key=lambda recall: order.index(recall[0]))
    (folder / "accuracy-recall.svg").write_text(recall_plot(recalls), encoding="utf-8")
    card = folder / "accuracy.md"
    texts = {
        title: _section_text(title, head, lines, document)
        for title, head, lines in _sections(document)
    }
    if "leaderboard" not in document and card.exists():
        texts |= leaderboard.texts_of(card.read_text(encoding="utf-8"))
    text = "\n\n".join((METHOD.format(**_counts(document)), *texts.values(), CLOSING))
    card.write_text(text, encoding="utf-8")
    return True


def _section_text(title: str, head: tuple[str, ...], lines: rows.Rows, document: Document) -> str:
    parts = [f"## {title}", _markdown(head, lines), *_PICTURES.get(title, [])]
    if title in _RANGE_TITLES:
        parts.insert(1, _extent(document))
    elif title == leaderboard.FILES:
        parts.insert(1, leaderboard.method(document["leaderboard"]))
    return "\n\n".join(parts)


_MUST, _TRANSFORMS, _FALSE = "What it must reach", "By transform", "Where nothing is the same"
_NAMED = "What rejected pairs are called, and what they are"
_UNRELATED = (
    "audio, and how", "verdict revision", "pairs", "pairs of tracks", "accepted", "highest score",
    "99.9 % are below",
)  # fmt: skip
_GOALS, _RANGE = "Goals", "Over the range of edits"
_BESIDE = "Others beside it, each at its own best threshold"
_MUST_DIFFER, _OTHERS = "What must stay apart", "Others over the range of edits"
_RANGE_TITLES = frozenset({_RANGE, _MUST_DIFFER, _OTHERS})
_EXTENT = (
    "Generated audio: measured with verdict revision {revision} on {tracks} edited tracks and "
    "{scores} scores by two sound fonts, {pairs} pairs."
)
_REAL_EXTENT = (
    "Real audio, reported part: verdict revision {revision}, {recordings} recordings of {genres} "
    "genres, {pairs} pairs."
)
_COST = ("what", "measured", "must", "reach for")
_PICTURES = {
    _RANGE: ["![Recall over the range of edits](accuracy-range.svg)"],
    _MUST: ["![Scores by what is true](accuracy-scores.svg)"],
    _TRANSFORMS: ["![Recall by transform](accuracy-recall.svg)"],
}


def _counts(document: Document) -> dict[str, str]:
    reported, fonts = document["reported"], document["sources"]["fonts"]
    real = document.get("real", {}).get("reported", {})
    labelled: Document = real.get("labelled", {"pairs": 0, "same": 0, "groups": {"groups": 0}})
    return {
        "recordings": str(real.get("recordings", 0)),
        "genres": str(real.get("genres", 0)),
        "real_pairs": f"{labelled['pairs']:,}",
        "real_same": f"{labelled['same']:,}",
        "real_groups": str(labelled["groups"]["groups"]),
        "real_edits": f"{real.get('pairs', 0):,}",
        "tracks": str(document["tracks"]),
        "reported": str(reported["tracks"]),
        "pairs": str(reported["pairs"]),
        "same": str(reported["same"]),
        "groups": str(reported["groups"]["groups"]),
        "fonts": " and ".join(fonts) or "none was installed: these tracks are by the world too",
        "voice": document["sources"]["voice"],
        "revision": VERDICT_REVISION,
        "edited": str(document.get("range", {}).get("tracks", 0)),
        "edited_pairs": f"{document.get('range', {}).get('pairs', 0):,}",
    }


def _extent(document: Document) -> str:
    lines = [_EXTENT.format(**document["range"])] if "range" in document else []
    real = document.get("real", {}).get("reported", {})
    return " ".join([*lines, *([_REAL_EXTENT.format(**real)] if "families" in real else [])])


def _sections(document: Document) -> list[Section]:
    """The tables of the card: the reported part of both kinds of audio."""
    made, real = goals.generated_side(document), goals.real_side(document)
    sections: list[Section] = [(_GOALS, goals.HEAD, goals.goal_rows(document))]
    labelled = {"generated": made.labelled, "real": real.labelled}
    sections += _by_part({name: part for name, part in labelled.items() if part})
    if made.edited or real.edited:
        sections += _range_sections(made.edited, real.edited)
    unrelated = {"generated": made.unrelated, "real": real.unrelated}
    if made.unrelated or real.unrelated:
        sections.append(("Unrelated pairs", _UNRELATED, rows.unrelated_rows(unrelated)))
    if "anchors" in document:
        head, lines = rows.anchor_rows(document["anchors"])
        sections.append((_BESIDE, head, lines))
    if "timing" in document:
        sections.append(("Cost", _COST, rows.timing_rows(document["timing"])))
    if "leaderboard" in document:
        sections += leaderboard.sections(document["leaderboard"])
    return sections


def _choosing(document: Document) -> list[Section]:
    """The same of the part that constants are chosen on, for the console only."""
    real = document.get("real", {}).get("choosing", {})
    labelled = {
        "generated, choosing": document.get("choosing", {}),
        "real, choosing": real.get("labelled", {}),
    }
    sections = _by_part({name: part for name, part in labelled.items() if part})
    if not real:
        return sections
    shown = goals.goal_rows({"real": {"reported": real}})
    return [*sections, *_range_sections({}, real), (f"{_GOALS}, choosing", goals.HEAD, shown)]


def _range_sections(made: Document, real: Document) -> list[Section]:
    sections: list[Section] = [
        (_RANGE, range_rows.FAMILY_HEAD, range_rows.family_rows(made, real)),
        (_MUST_DIFFER, range_rows.APART_HEAD, range_rows.apart_rows(made, real)),
    ]
    if made:
        head, lines = range_rows.tool_rows(made)
        sections.append((_OTHERS, head, lines))
    return sections


def _by_part(labelled: Document) -> list[Section]:
    """Tables of the labelled pairs, with a column for each kind of audio."""
    if not labelled:
        return []
    parts = list(labelled)
    doubled = tuple(name for part in parts for name in (f"{part}: accepted", "median score"))
    groups = "Groups of 3 references and 2 candidates"
    same = rows.family_rows(labelled, parts, is_same=True)
    other = rows.family_rows(labelled, parts, is_same=False)
    confusion = rows.confusion_rows(labelled, parts)
    named = rows.observation_rows(labelled, parts)
    return [
        (_MUST, ("measure", "must", "reach for", *parts), rows.must_rows(labelled, parts)),
        (_TRANSFORMS, ("what was done", *doubled), same),
        (_FALSE, ("different, yet compared", *doubled), other),
        ("By what played the track", ("tracks", *parts), rows.kind_rows(labelled, parts)),
        (_NAMED, ("rejected, and named", *parts), named),
        ("Unchanged or changed", ("truth", "verdict", *parts), confusion),
        (groups, ("groups", *parts), rows.group_rows(labelled, parts)),
    ]


def _markdown(head: tuple[str, ...], lines: rows.Rows) -> str:
    table = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    table += ["| " + " | ".join(cell.strip() for cell in row) + " |" for row in lines]
    return "\n".join(table)
