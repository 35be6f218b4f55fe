"""The rows of the accuracy card: figures to words. Which tables there are is in `card.py`."""

from typing import Any

from benchmarks.accuracy.sounds.clips import FAMILIES

type Document = dict[str, Any]
type Rows = list[tuple[str, ...]]


def must_rows(document: Document, parts: list[str]) -> Rows:
    rows: list[tuple[str, str, str, Any]] = [
        ("recall at precision 0.99, without same narration", "0.96", "0.98",
         lambda part: _share(part["summary"]["main"]["recall_at_p99"])),
        ("  without arguable pairs / all pairs", "", "",
         lambda part: _two(part, "recall_at_p99")),
        ("precision at 0.65, without same narration", "0.99", "0.998",
         lambda part: _share(part["summary"]["main"]["precision"])),
        ("  without arguable pairs / all pairs", "", "", lambda part: _two(part, "precision")),
        ("recall at 0.65", "0.95", "0.97", lambda part: _share(part["summary"]["all"]["recall"])),
        ("area under the curve, without same narration", "", "",
         lambda part: f"{part['summary']['main']['auc']:.4f}"),
        ("  without arguable pairs / all pairs", "", "",
         lambda part: " / ".join(f"{part['summary'][kept]['auc']:.4f}" for kept in _KEPT)),
        ("groups 3 x 2, precision", "1.00", "1.00",
         lambda part: _share(part["groups"]["precision"])),
        ("groups 3 x 2, recall", "0.96", "0.99", lambda part: _share(part["groups"]["recall"])),
        ("speeds off the grid, recall", "0.88", "0.95",
         lambda part: _share(part["off_grid"]["recall"])),
        ("  error of the speed found, median / largest", "", "",
         lambda part: _percent(part["off_grid"])),
        ("voice 0 dB, recall", "0.85", "0.95", lambda part: _share(_family(part, "voice +0 dB"))),
        ("voice +3 dB, recall", "0.65", "0.85", lambda part: _share(_family(part, "voice +3 dB"))),
        ("changed recordings confirmed as unchanged", "0", "0",
         lambda part: str(part["as_heard"]["variant"].get("confirmed", 0))),
    ]  # fmt: skip
    return [
        (name, must, aim, *(of(document[part]) for part in parts)) for name, must, aim, of in rows
    ]


_KEPT = ("clear", "all")


def _two(part: Document, name: str) -> str:
    return " / ".join(_share(part["summary"][kept][name]) for kept in _KEPT)


def _family(part: Document, name: str) -> Document:
    found: Document = next(
        (row["accepted"] for row in part["families"] if row["family"] == name), _NONE
    )
    return found


_NONE: Document = {"hits": 0, "total": 0, "value": None, "low": 0.0, "high": 1.0}


def family_rows(document: Document, parts: list[str], *, is_same: bool) -> Rows:
    names: dict[str, None] = {}
    for part in parts:
        for row in document[part]["families"]:
            if (row["truth"] != "different") == is_same:
                names[row["family"]] = None
    order = [family.name for family in FAMILIES]
    rows: Rows = []
    for name in sorted(names, key=lambda name: order.index(name) if name in order else -1):
        cells = []
        for part in parts:
            row = next((row for row in document[part]["families"] if row["family"] == name), None)
            cells += ["", ""] if row is None else [
                _share(row["accepted"]), f"{row['median_score']:.2f}"
            ]  # fmt: skip
        rows.append((name.removeprefix("NEG "), *cells))
    return rows


def kind_rows(document: Document, parts: list[str]) -> Rows:
    words = {
        "font": "scores by sound fonts", "loop": "loops by machine", "world": "sandbox",
        "real": "real recordings",
    }  # fmt: skip
    kinds = sorted({kind for part in parts for kind in document[part]["kinds"]})
    return [
        (words[kind], *(_share(document[part]["kinds"].get(kind, _NONE)) for part in parts))
        for kind in kinds
    ]


def confusion_rows(document: Document, parts: list[str]) -> Rows:
    words = {"same": "unchanged", "variant": "changed", "different": "another recording"}
    return [
        (words[truth], verdict.replace("_", " "),
         *(str(document[part]["as_heard"].get(truth, {}).get(verdict, 0)) for part in parts))
        for truth in words
        for verdict in ("confirmed", "variant", "rejected", "not_comparable")
    ]  # fmt: skip


def observation_rows(document: Document, parts: list[str]) -> Rows:
    """How often a name is right, and what else bore it."""
    words = {
        "likely_cover": "likely cover", "likely_reversed": "likely reversed",
        "shared_voice": "shared voice", "uncertain": "uncertain", "none": "not named",
    }  # fmt: skip
    return [
        (word, *(_named(document[part]["observations"].get(name, {}), name) for part in parts))
        for name, word in words.items()
    ]


def _named(found: dict[str, int], name: str) -> str:
    total = sum(found.values())
    kinds = {
        "cover": "covers", "same": "the same recording", "shared": "shared voice or crowd",
        "other": "other sounds",
    }  # fmt: skip
    named = ", ".join(f"{found[kind]} {word}" for kind, word in kinds.items() if found.get(kind))
    if name != "likely_cover" or not total:
        return f"{total}: {named}" if named else "none"
    return f"{total}: {named}; right in {found.get('cover', 0) / total:.3f}"


def group_rows(document: Document, parts: list[str]) -> Rows:
    families = document[parts[0]]["groups"]["families"]
    return [
        (
            f"accepted: {name}",
            *(_share(document[part]["groups"]["families"].get(name, _NONE)) for part in parts),
        )
        for name in families
    ]


def unrelated_rows(unrelated: Document) -> Rows:
    """Rows by kind of audio and by how the pairs were compared."""
    words = {"as_heard": "as heard", "searched": "through the full search"}
    return [
        (
            f"{kind}, {word}", found["revision"],
            f"{found['pairs']:,}", f"{found['track_pairs']:,}",
            _share(found["accepted"], 5), f"{found['highest_score']:.3f}",
            f"{found['score_999']:.3f}",
        )
        for kind, side in unrelated.items()
        for name, word in words.items()
        if name in side
        for found in (side[name],)
    ]  # fmt: skip


def anchor_rows(anchors: Document) -> tuple[tuple[str, ...], Rows]:
    """The head too, because not everything is installed everywhere."""
    words = {
        "ear": "matcher", "chromaprint": "Chromaprint, best 6 s",
        "ear_on_sample": "matcher, sample", "librosa": "plain librosa, sample",
    }  # fmt: skip
    there = [name for name in words if name in anchors]
    head = ("without arguable pairs", *(words[name] for name in there))
    rows: Rows = [
        ("pairs", *(str(anchors[name]["pairs"]) for name in there)),
        ("area under the curve", *(f"{anchors[name]['auc']:.3f}" for name in there)),
        ("recall at precision 0.99", *(_share(anchors[name]["recall_at_p99"]) for name in there)),
    ]
    for group in sorted(anchors["ear"]["groups"], key=lambda name: name.startswith("NEG")):
        label = group if group.startswith("NEG") else f"recall: {group}"
        cells = [_short(anchors[name]["groups"].get(group)) for name in there]
        rows.append((label.replace("NEG", "accepted:"), *cells))
    literal = anchors["librosa"]["literal"]
    rows.append(
        ("literal thresholds: precision / recall", *("" for _ in there[:-1]),
         f"{literal['precision']['value'] or 0:.3f} / {literal['recall']['value'] or 0:.3f}")
    )  # fmt: skip
    return head, rows


def timing_rows(timing: Document) -> Rows:
    def shown(name: str, unit: str, digits: int = 1) -> str:
        return "not installed" if name not in timing else f"{timing[name]:.{digits}f} {unit}"

    return [
        ("a new 21 s clip in a decoder process: hash, decode, all features",
         shown("clip_ms", "ms"), "70 ms", "below fpcalc"),
        ("  of it decoding", shown("decode_ms", "ms"), "", ""),
        ("fpcalc, the same 21 s", shown("fpcalc_ms", "ms"), "", ""),
        ("  matcher relative to fpcalc", _ratio(timing, "clip_ms", "fpcalc_ms"), "", "1.00"),
        ("plain librosa, the same 21 s", shown("librosa_clip_ms", "ms"), "", ""),
        ("a cached pair of 21 s, unchanged", shown("pair_ms", "ms", 2), "1.5 ms", "0.7 ms"),
        ("  a clean copy / a cover in sync",
         f"{shown('pair_same_ms', 'ms', 2)} / {shown('pair_cover_ms', 'ms', 2)}", "", ""),
        ("a cached pair with full search", shown("pair_searched_ms", "ms"), "15 ms", "8 ms"),
        ("  the same, cold: nothing is computed yet", shown("cold_searched_ms", "ms"), "25 ms", ""),
        ("  a cover in sync, which costs most", shown("cover_searched_ms", "ms"), "15 ms", ""),
        ("  of it the version score, only of rejected pairs", shown("version_ms", "ms"), "3 ms",
         ""),
        ("Chromaprint, a pair", shown("chromaprint_pair_ms", "ms", 2), "", ""),
        ("plain librosa, a pair", shown("librosa_pair_ms", "ms"), "", ""),
        ("cold process to first verdict (wall)", shown("cold_wall_s", "s", 2), "3 s", ""),
        ("  its processor time, both processes", shown("cold_cpu_s", "s", 2), "", ""),
        (f"memory of a decoder process after {timing['memory_clips']:,} clips",
         f"{timing['memory_mb']:.0f} MiB (early: {timing['memory_early_mb']:.0f})",
         "flat, under 400 MB", ""),
    ]  # fmt: skip


def _ratio(timing: Document, name: str, other: str) -> str:
    return "" if other not in timing else f"{timing[name] / timing[other]:.2f}"


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
