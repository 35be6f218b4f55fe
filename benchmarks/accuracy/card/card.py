"""The accuracy card: one document of figures as tables, for the console and for `docs/`.

What belongs here: words and tables. Figures come ready from `accuracy.py` and `timing.py`.
"""

from pathlib import Path
from typing import Any

from rich.table import Table

from benchmarks.accuracy.card import card_rows as rows
from benchmarks.accuracy.card.card_text import CLOSING, METHOD
from benchmarks.accuracy.card.plots import recall_plot, score_plot
from benchmarks.accuracy.full_range import rows as range_rows
from benchmarks.accuracy.full_range.curves import range_curves
from benchmarks.accuracy.sounds.clips import FAMILIES
from warehouse.records.evidence import VERDICT_REVISION

type Document = dict[str, Any]
type Section = tuple[str, tuple[str, ...], rows.Rows]
_THRESHOLD = 0.65


def console_tables(document: Document) -> list[Table]:
    """What `make bench-audio` prints: the reported part with the choosing part beside it."""
    tables = []
    for title, head, lines in _sections(document):
        table = Table(title=title, title_justify="left", box=None)
        for name in head:
            table.add_column(name)
        for row in lines:
            table.add_row(*row)
        tables.append(table)
    return tables


def write_card(document: Document, folder: Path) -> None:
    """`accuracy.md` and its pictures; the choosing part is left out.

    Without figures of the labelled pairs, the sections that there are figures for are renewed.
    """
    folder.mkdir(exist_ok=True)
    if "range" in document:
        curves = range_curves(document["range"])
        (folder / "accuracy-range.svg").write_text(curves, encoding="utf-8")
    if "reported" not in document:
        _renew_sections(document, folder / "accuracy.md")
        return
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
    only_reported = {name: part for name, part in document.items() if name != "choosing"}
    parts = [METHOD.format(**_counts(document))]
    parts += [_section_text(*section, only_reported) for section in _sections(only_reported)]
    text = "\n\n".join((*parts, CLOSING))
    (folder / "accuracy.md").write_text(text, encoding="utf-8")


def _section_text(title: str, head: tuple[str, ...], lines: rows.Rows, document: Document) -> str:
    parts = [f"## {title}", _markdown(head, lines), *_PICTURES.get(title, [])]
    if title in _RANGE_TITLES:
        parts.insert(1, _EXTENT.format(**document["range"]))
    return "\n\n".join(parts)


def _renew_sections(document: Document, card: Path) -> None:
    """Replace the sections of a card by new ones of their title; new titles come first."""
    text = card.read_text(encoding="utf-8")
    begins, ends = "\n## ", "\n## " + _MUST
    for section in _sections(document):
        title, new = section[0], _section_text(*section, document)
        at = text.find(f"\n## {title}\n")
        if at < 0:
            at = text.index(ends)
            text = f"{text[:at]}\n{new}\n{text[at:]}"
            continue
        after = text.find(begins, at + 1)
        text = f"{text[:at]}\n{new}\n{text[after:]}"
    card.write_text(text, encoding="utf-8")


_MUST, _TRANSFORMS, _FALSE = "What it must reach", "By transform", "Where nothing is the same"
_NAMED = "What rejected pairs are called, and what they are"
_UNRELATED = ("how", "pairs", "pairs of tracks", "accepted", "highest score", "99.9 % are below")
_GOALS, _RANGE = "Goals of the full range", "Over the range of edits"
_MUST_DIFFER, _OTHERS = "What must stay apart", "Others over the range of edits"
_RANGE_TITLES = frozenset({_RANGE, _MUST_DIFFER, _OTHERS})
_EXTENT = (
    "Measured with verdict revision {revision} on {tracks} edited tracks and {scores} scores by "
    "two sound fonts, {pairs} pairs."
)
_APART = ("different, yet compared", "accepted", "of it confirmed")
_COST = ("what", "measured", "must", "reach for")
_PICTURES = {
    _RANGE: ["![Recall over the range of edits](accuracy-range.svg)"],
    _MUST: ["![Scores by what is true](accuracy-scores.svg)"],
    _TRANSFORMS: ["![Recall by transform](accuracy-recall.svg)"],
}


def _counts(document: Document) -> dict[str, str]:
    reported, fonts = document["reported"], document["sources"]["fonts"]
    return {
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


def _sections(document: Document) -> list[Section]:
    parts: list[str] = [name for name in ("reported", "choosing") if name in document]
    sections: list[Section] = [(_GOALS, range_rows.GOAL_HEAD, range_rows.goal_rows(document))]
    sections += _by_part(document, parts) if parts else []
    if "range" in document:
        sections += _range_sections(document["range"])
    if "unrelated" in document:
        sections.append(("Unrelated pairs", _UNRELATED, rows.unrelated_rows(document)))
    if "anchors" in document:
        title = "Others beside it, each at its own best threshold"
        head, lines = rows.anchor_rows(document["anchors"])
        sections.append((title, head, lines))
    if "timing" in document:
        sections.append(("Cost", _COST, rows.timing_rows(document["timing"])))
    return sections


def _range_sections(measured: Document) -> list[Section]:
    head, lines = range_rows.tool_rows(measured)
    return [
        (_RANGE, range_rows.FAMILY_HEAD, range_rows.family_rows(measured)),
        (_MUST_DIFFER, _APART, range_rows.apart_rows(measured)),
        (_OTHERS, head, lines),
    ]


def _by_part(document: Document, parts: list[str]) -> list[Section]:
    doubled = tuple(name for part in parts for name in (f"{part}: accepted", "median score"))
    groups = "Groups of 3 references and 2 candidates"
    same = rows.family_rows(document, parts, is_same=True)
    other = rows.family_rows(document, parts, is_same=False)
    confusion = rows.confusion_rows(document, parts)
    named = rows.observation_rows(document, parts)
    return [
        (_MUST, ("measure", "must", "reach for", *parts), rows.must_rows(document, parts)),
        (_TRANSFORMS, ("what was done", *doubled), same),
        (_FALSE, ("different, yet compared", *doubled), other),
        ("By what played the track", ("tracks", *parts), rows.kind_rows(document, parts)),
        (_NAMED, ("rejected, and named", *parts), named),
        ("Unchanged or changed", ("truth", "verdict", *parts), confusion),
        (groups, ("groups", *parts), rows.group_rows(document, parts)),
    ]


def _markdown(head: tuple[str, ...], lines: rows.Rows) -> str:
    table = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    table += ["| " + " | ".join(cell.strip() for cell in row) + " |" for row in lines]
    return "\n".join(table)
