"""The accuracy card: one document of figures as tables, for the console and for `docs/`.

What belongs here: words and tables. Figures come ready from `accuracy.py` and `timing.py`.
"""

from pathlib import Path
from typing import Any

from rich.table import Table

from tests.bench.accuracy.card_text import CLOSING, METHOD
from tests.bench.accuracy.plots import recall_plot, score_plot

type Document = dict[str, Any]
type Rows = list[tuple[str, ...]]
_THRESHOLD = 0.65


def console_tables(document: Document) -> list[Table]:
    """What `make bench-audio` prints: the reported part with the choosing part beside it."""
    tables = []
    for title, head, rows in _sections(document):
        table = Table(title=title, title_justify="left", box=None)
        for name in head:
            table.add_column(name)
        for row in rows:
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
    rows = [
        (row["family"], *(row["accepted"][name] for name in ("value", "low", "high")))
        for row in reported["families"]
        if row["truth"] != "different"
    ]
    (folder / "accuracy-recall.svg").write_text(recall_plot(rows), encoding="utf-8")
    only_reported = {name: part for name, part in document.items() if name != "choosing"}
    parts = [METHOD.format(**_counts(document))]
    for title, head, lines in _sections(only_reported):
        parts.append(f"## {title}\n\n" + _markdown(head, lines))
        parts += _PICTURES.get(title, [])
    text = "\n\n".join((*parts, CLOSING))
    (folder / "accuracy.md").write_text(text, encoding="utf-8")


_MUST, _TRANSFORMS, _FALSE = "What it must reach", "By transform", "Where nothing is the same"
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
    }


def _sections(document: Document) -> list[tuple[str, tuple[str, ...], Rows]]:
    parts: list[str] = [name for name in ("reported", "choosing") if name in document]
    sections: list[tuple[str, tuple[str, ...], Rows]] = []
    if parts:
        sections = [
            (_MUST, ("measure", "must", "reach for", *parts), _must(document, parts)),
            (_TRANSFORMS, ("what was done", *_doubled(parts)), _families(document, parts, True)),
            (
                _FALSE,
                ("different, yet compared", *_doubled(parts)),
                _families(document, parts, False),
            ),
            ("By what played the track", ("tracks", *parts), _by_kind(document, parts)),
            ("As heard or changed", ("truth", "verdict", *parts), _confusion(document, parts)),
            (
                "Groups of 3 references and 2 candidates",
                ("groups", *parts),
                _by_group(document, parts),
            ),
        ]
    if "unrelated" in document:
        sections.append(
            (
                "Unrelated pairs",
                (
                    "how",
                    "pairs",
                    "pairs of tracks",
                    "accepted",
                    "highest score",
                    "99.9 % are below",
                ),
                _unrelated(document),
            )
        )
    if "anchors" in document:
        sections += _anchors(document["anchors"])
    if "timing" in document:
        sections.append(
            ("Cost", ("what", "measured", "must", "reach for"), _timing(document["timing"]))
        )
    return sections  # fmt: skip


def _doubled(parts: list[str]) -> tuple[str, ...]:
    return tuple(name for part in parts for name in (f"{part}: accepted", "median score"))


def _must(document: Document, parts: list[str]) -> Rows:
    rows: list[tuple[str, str, str, Any]] = [
        ("recall at precision 0.99, without arguable pairs", "0.96", "0.98",
         lambda part: _share(part["summary"]["recall_at_p99_main"])),
        ("recall at precision 0.99, all pairs", "", "",
         lambda part: _share(part["summary"]["recall_at_p99"])),
        ("precision at 0.65, without arguable pairs", "0.99", "0.998",
         lambda part: _share(part["summary"]["precision_main"])),
        ("precision at 0.65, all pairs", "", "", lambda part: _share(part["summary"]["precision"])),
        ("recall at 0.65", "0.95", "0.97", lambda part: _share(part["summary"]["recall"])),
        ("area under the curve, all / without arguable pairs", "", "",
         lambda part: f"{part['summary']['auc']:.4f} / {part['summary']['auc_main']:.4f}"),
        ("groups 3 x 2, precision", "1.00", "1.00",
         lambda part: _share(part["groups"]["precision"])),
        ("groups 3 x 2, recall", "0.96", "0.99", lambda part: _share(part["groups"]["recall"])),
        ("speeds off the grid, recall", "0.88", "0.95",
         lambda part: _share(part["off_grid"]["recall"])),
        ("  error of the speed found, median / largest", "", "",
         lambda part: _percent(part["off_grid"])),
        ("voice 0 dB, recall", "0.85", "0.95", lambda part: _share(_family(part, "voice +0 dB"))),
        ("voice +3 dB, recall", "0.65", "0.85", lambda part: _share(_family(part, "voice +3 dB"))),
        ("changed recordings confirmed as heard", "0", "0",
         lambda part: str(part["as_heard"]["variant"].get("confirmed", 0))),
    ]  # fmt: skip
    told = [
        (name, must, aim, *(of(document[part]) for part in parts)) for name, must, aim, of in rows
    ]
    padding = ("",) * (len(parts) - 1)
    for name, what in (("as_heard", "as heard"), ("searched", "through the full search")):
        if "unrelated" in document:
            found = document["unrelated"][name]
            shown = f"{found['accepted']['hits']} of {found['pairs']:,}"
            told.append((f"unrelated pairs accepted, {what}", "0", "0", shown, *padding))
    return told


def _family(part: Document, name: str) -> Document:
    found: Document = next(
        (row["accepted"] for row in part["families"] if row["family"] == name), _NONE
    )
    return found


_NONE: Document = {"hits": 0, "total": 0, "value": None, "low": 0.0, "high": 1.0}


def _families(document: Document, parts: list[str], is_same: bool) -> Rows:
    names: dict[str, None] = {}
    for part in parts:
        for row in document[part]["families"]:
            if (row["truth"] != "different") == is_same:
                names[row["family"]] = None
    rows: Rows = []
    for name in names:
        cells = []
        for part in parts:
            row = next((row for row in document[part]["families"] if row["family"] == name), None)
            cells += ["", ""] if row is None else [
                _share(row["accepted"]), f"{row['median_score']:.2f}"
            ]  # fmt: skip
        rows.append((name.removeprefix("NEG "), *cells))
    return rows


def _by_kind(document: Document, parts: list[str]) -> Rows:
    words = {
        "font": "scores by sound fonts", "loop": "loops by machine", "world": "stand-in world",
    }  # fmt: skip
    kinds = sorted({kind for part in parts for kind in document[part]["kinds"]})
    return [
        (words[kind], *(_share(document[part]["kinds"].get(kind, _NONE)) for part in parts))
        for kind in kinds
    ]


def _confusion(document: Document, parts: list[str]) -> Rows:
    words = {"same": "heard as it is", "variant": "changed", "different": "another recording"}
    return [
        (words[truth], verdict.replace("_", " "),
         *(str(document[part]["as_heard"].get(truth, {}).get(verdict, 0)) for part in parts))
        for truth in words
        for verdict in ("confirmed", "variant", "rejected", "not_comparable")
    ]  # fmt: skip


def _by_group(document: Document, parts: list[str]) -> Rows:
    families = document[parts[0]]["groups"]["families"]
    return [
        (
            f"accepted: {name}",
            *(_share(document[part]["groups"]["families"][name]) for part in parts),
        )
        for name in families
    ]


def _unrelated(document: Document) -> Rows:
    words = {"as_heard": "as heard", "searched": "through the full search"}
    return [
        (
            word, f"{found['pairs']:,}", f"{found['track_pairs']:,}", _share(found["accepted"], 5),
            f"{found['highest_score']:.3f}", f"{found['score_999']:.3f}",
        )
        for name, word in words.items()
        for found in (document["unrelated"][name],)
    ]  # fmt: skip


def _anchors(anchors: Document) -> list[tuple[str, tuple[str, ...], Rows]]:
    words = {
        "ear": "the ear", "chromaprint": "Chromaprint, best 6 s",
        "ear_on_sample": "the ear, sample", "librosa": "plain librosa, sample",
    }  # fmt: skip
    there = [name for name in words if name in anchors]
    head = ("without arguable pairs", *(words[name] for name in there))
    rows: Rows = [
        ("pairs", *(str(anchors[name]["pairs"]) for name in there)),
        ("area under the curve", *(f"{anchors[name]['auc']:.3f}" for name in there)),
        ("recall at precision 0.99", *(_share(anchors[name]["recall_at_p99"]) for name in there)),
    ]
    for group in anchors["ear"]["groups"]:
        label = group if group.startswith("NEG") else f"recall: {group}"
        cells = [_short(anchors[name]["groups"].get(group)) for name in there]
        rows.append((label.replace("NEG", "accepted:"), *cells))
    literal = anchors["librosa"]["literal"]
    rows.append(
        ("literal thresholds: precision / recall", *("" for _ in there[:-1]),
         f"{literal['precision']['value'] or 0:.3f} / {literal['recall']['value'] or 0:.3f}")
    )  # fmt: skip
    return [("Others beside it, each at its own best threshold", head, rows)]


def _timing(timing: Document) -> Rows:
    def shown(name: str, unit: str, digits: int = 1) -> str:
        return "not installed" if name not in timing else f"{timing[name]:.{digits}f} {unit}"

    return [
        ("decode a 25 s clip", shown("decode_ms", "ms"), "", ""),
        ("its features", shown("features_ms", "ms"), "", ""),
        ("decode and all features", shown("clip_ms", "ms"), "70 ms for 21 s", "below fpcalc"),
        ("fpcalc, the same clips", shown("fpcalc_ms", "ms"), "", ""),
        ("plain librosa, the same clips", shown("librosa_clip_ms", "ms"), "", ""),
        ("a cached pair as heard", shown("pair_ms", "ms", 2), "1.5 ms", "0.7 ms"),
        ("a cached pair with full search", shown("pair_searched_ms", "ms"), "15 ms", "8 ms"),
        ("Chromaprint, a pair", shown("chromaprint_pair_ms", "ms", 2), "", ""),
        ("plain librosa, a pair", shown("librosa_pair_ms", "ms"), "", ""),
        ("cold process to first verdict (wall)", shown("cold_wall_s", "s", 2), "1.5 s", "1.0 s"),
        (f"memory of a listening child after {timing['memory_clips']:,} clips",
         f"{timing['memory_mb']:.0f} MiB (early: {timing['memory_early_mb']:.0f})",
         "flat, under 400 MB", ""),
    ]  # fmt: skip


def _share(share: Document, digits: int = 3) -> str:
    if share["value"] is None:
        return "none"
    low, high = f"{share['low']:.{digits}f}", f"{share['high']:.{digits}f}"
    return f"{share['value']:.{digits}f} [{low}, {high}] of {share['total']:,}"


def _short(share: Document | None) -> str:
    return "" if share is None or share["value"] is None else f"{share['value']:.2f}"


def _percent(found: Document) -> str:
    if found["median_error_percent"] is None:
        return "none found"
    return f"{found['median_error_percent']:.3f} % / {found['largest_error_percent']:.2f} %"


def _markdown(head: tuple[str, ...], rows: Rows) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(cell.strip() for cell in row) + " |" for row in rows]
    return "\n".join(lines)
