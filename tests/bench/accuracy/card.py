"""The accuracy card: one document of figures as tables, for the console and for `docs/`.

What belongs here: words and tables. Figures come ready from `accuracy.py` and `timing.py`.
"""

from pathlib import Path
from typing import Any

from rich.table import Table

from tests.bench.accuracy import card_rows as rows
from tests.bench.accuracy.card_text import CLOSING, METHOD
from tests.bench.accuracy.clips import FAMILIES
from tests.bench.accuracy.plots import recall_plot, score_plot
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
    """`accuracy.md` and its two pictures; the choosing part is left out."""
    if "reported" not in document:
        return
    folder.mkdir(exist_ok=True)
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
    for title, head, lines in _sections(only_reported):
        parts.append(f"## {title}\n\n" + _markdown(head, lines))
        parts += _PICTURES.get(title, [])
    text = "\n\n".join((*parts, CLOSING))
    (folder / "accuracy.md").write_text(text, encoding="utf-8")


_MUST, _TRANSFORMS, _FALSE = "What it must reach", "By transform", "Where nothing is the same"
_NAMED = "What rejected pairs are called, and what they are"
_UNRELATED = ("how", "pairs", "pairs of tracks", "accepted", "highest score", "99.9 % are below")
_EDITS = ("edit", "found", "by value")
_COST = ("what", "measured", "must", "reach for")
_PICTURES = {
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
    }


def _sections(document: Document) -> list[Section]:
    parts: list[str] = [name for name in ("reported", "choosing") if name in document]
    sections = _by_part(document, parts) if parts else []
    if "edits" in document:
        sections.append(("Over the range of edits", _EDITS, rows.edit_rows(document)))
    if "unrelated" in document:
        sections.append(("Unrelated pairs", _UNRELATED, rows.unrelated_rows(document)))
    if "anchors" in document:
        title = "Others beside it, each at its own best threshold"
        head, lines = rows.anchor_rows(document["anchors"])
        sections.append((title, head, lines))
    if "timing" in document:
        sections.append(("Cost", _COST, rows.timing_rows(document["timing"])))
    return sections


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
