"""`make bench-audio`: how well the ear hears, what it costs, and the card that says so.

The first run makes some 14,000 files; later runs find them, and the features, in the cache.
"""

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from benchmarks.accuracy.accuracy import (
    PARTS,
    Document,
    listen,
    measure_anchors,
    measure_part,
    measure_unrelated,
)
from benchmarks.accuracy.card.card import console_tables, write_card
from benchmarks.accuracy.card.findings import write_findings
from benchmarks.accuracy.comparing import Bench
from benchmarks.accuracy.full_range.measuring import Extent, measure_range, prepare_range
from benchmarks.accuracy.full_range.plan import SAME_SCORES, TRACKS
from benchmarks.accuracy.hearing import Hearing
from benchmarks.accuracy.real.measuring import (
    RealExtent,
    measure_real,
    measure_real_unrelated,
    missing_recordings,
)
from benchmarks.accuracy.sounds.making import make_clips
from benchmarks.accuracy.sounds.tracks import (
    Sources,
    Track,
    find_sources,
    list_few_tracks,
    list_tracks,
)
from benchmarks.accuracy.timing import measure_timing

console = Console(width=120)
_DOCS = Path("docs")
_CACHE = Path("reports/bench-audio")
_IDENTIFIED = "bench-identify/results.json"
_LEADERBOARD = "leaderboard/results.json"
_PARTS = ("clips", "accuracy", "far", "range", "real", "timing", "card")


def main() -> None:
    options = _options()
    sources = Sources() if options.quick else find_sources()
    cache = Path(options.cache)
    cache.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    is_whole = not options.quick and options.recordings is None
    kept = cache / ("results.json" if is_whole else "quick.json")
    document: Document = json.loads(kept.read_text()) if kept.exists() else {}
    document["sources"] = _sources(sources)
    if options.only not in {"range", "real", "card"}:
        _measure_labelled(document, sources, cache, options, began)
        kept.write_text(json.dumps(document, indent=1))  # the rest may be broken off
    if options.only in {None, "range"} and not options.quick:
        document["range"] = measure_range(_extent(sources, cache, options))
        _say("the full range is compared", began)
    elif options.only == "clips" and not options.quick:
        prepare_range(_extent(sources, cache, options))
        _say("clips of the full range are ready", began)
    if options.only in {None, "real", "far"} and not options.quick:
        _measure_recordings(document, sources, cache, options, began)
    document |= _identified(cache) | _leaderboard(cache)
    kept.write_text(json.dumps(document, indent=1))
    for table in console_tables(document):
        console.print(table)
    if is_whole and not options.no_card:
        is_written = write_card(document, _DOCS)
        card = _DOCS / "accuracy.md"
        _say(f"wrote {card}" if is_written else f"{card} needs a whole run and is kept", began)


def _measure_labelled(
    document: Document, sources: Sources, cache: Path, options: argparse.Namespace, began: float
) -> None:
    """Everything on the clips of labelled pairs; figures are written into the document."""
    tracks = list_few_tracks() if options.quick else list_tracks(sources)
    document["tracks"] = len(tracks)
    clips = make_clips(tracks, sources, cache, processes=options.processes)
    _say(f"clips are made ({sources.label})", began)
    hearing = Hearing(clips, cache)
    new = listen(tracks, hearing, workers=options.processes)
    _say(f"clips are heard ({new} new)", began)
    if options.only in {None, "accuracy"}:
        document |= _accuracy(tracks, hearing, cache, options, began)
    if options.only == "far":
        document["unrelated"] = _unrelated(tracks, hearing, options, document)
    if options.only in {None, "timing"} and not options.quick:
        timing = measure_timing(tracks, hearing, heard_clips=options.heard_clips)
        document["timing"] = document.get("timing", {}) | timing
        _say("timing is taken", began)


def _measure_recordings(
    document: Document, sources: Sources, cache: Path, options: argparse.Namespace, began: float
) -> None:
    """The part on real recordings, if they are all there."""
    if missing := missing_recordings(sources):
        console.print("Real recordings are left out:", *missing[:5], sep="\n  ", style="red")
        return
    extent = RealExtent(
        part=options.part, sources=sources, folder=cache, processes=options.processes,
        recordings=options.recordings, unrelated=options.real_unrelated,
    )  # fmt: skip
    parts: Document = document.setdefault("real", {})
    if options.only == "far":
        far = replace(extent, unrelated=options.searched)
        ends = None if options.minutes is None else time.monotonic() + 60 * options.minutes
        found = measure_real_unrelated(far, ends=ends)
        parts.setdefault(options.part, {})["unrelated"] = found
    else:
        parts[options.part] = parts.get(options.part, {}) | measure_real(extent)
    _say(f"real recordings are compared ({options.part} part)", began)


def _extent(sources: Sources, cache: Path, options: argparse.Namespace) -> Extent:
    return Extent(
        sources=sources, folder=cache, processes=options.processes,
        tracks=options.edited_tracks, scores=options.same_scores,
    )  # fmt: skip


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", default=str(_CACHE), help="keep files and features here")
    parser.add_argument("--only", choices=_PARTS, default=None)
    parser.add_argument("--quick", action="store_true", help="eight tracks, no card")
    parser.add_argument("--no-card", action="store_true", help="leave docs/ alone")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--unrelated", type=int, default=20_000, help="0 keeps the last")
    parser.add_argument("--searched", type=int, default=3_000)
    parser.add_argument("--edited-tracks", type=int, default=TRACKS, help="of the full range")
    parser.add_argument("--same-scores", type=int, default=SAME_SCORES, help="by two sound fonts")
    parser.add_argument("--part", choices=PARTS, default="reported", help="of real recordings")
    parser.add_argument("--recordings", type=int, help="so many real ones only, no card")
    parser.add_argument("--real-unrelated", type=int, default=5_000, help="0 keeps the last")
    parser.add_argument("--minutes", type=float, help="end `--only far` after about so long")
    parser.add_argument(
        "--heard-clips", type=int, default=2_000, help="for the memory figure; 0 keeps the last"
    )
    parser.add_argument("--sample", type=int, default=250, help="pairs for plain librosa")
    parser.add_argument("--no-anchors", action="store_true", help="only our own ear")
    return parser.parse_args()


def _accuracy(
    tracks: list[Track],
    hearing: Hearing,
    cache: Path,
    options: argparse.Namespace,
    began: float,
) -> Document:
    document: Document = {}
    with Bench(hearing, processes=options.processes) as bench:
        for part in PARTS:
            document[part], pairs, judged = measure_part(part, tracks, bench)
            write_findings(cache / f"wrong-{part}.txt", pairs, judged, hearing.clips)
            _say(f"{part} part is compared", began)
        if options.quick:
            return document
        if options.unrelated:
            document["unrelated"] = measure_unrelated(
                tracks, bench, as_heard=options.unrelated, searched=options.searched
            )
            _say("unrelated pairs are compared", began)
    if not options.no_anchors:
        document["anchors"] = measure_anchors(
            pairs, judged, hearing.clips, cache / "fingerprints.json", sample=options.sample
        )
        _say("the others are measured", began)
    return document


def _unrelated(
    tracks: list[Track], hearing: Hearing, options: argparse.Namespace, document: Document
) -> Document:
    ends = None if options.minutes is None else time.monotonic() + 60 * options.minutes
    with Bench(hearing, processes=options.processes) as bench:
        found = measure_unrelated(
            tracks, bench, as_heard=options.unrelated, searched=options.searched, ends=ends
        )
    known: Document = document.get("unrelated", {})
    return known | found


def _identified(cache: Path) -> Document:
    """First answers of `python -m benchmarks.accuracy.identify`, if it was run on this machine."""
    kept = cache.parent / _IDENTIFIED
    if not kept.exists():
        return {}
    found = json.loads(kept.read_text())
    counts = list(found["found"].values())
    right, total = (sum(one[place] for one in counts) for place in range(2))
    return {"identify": {"references": found["references"], "hits": right, "total": total}}


def _leaderboard(cache: Path) -> Document:
    """Figures of `make leaderboard`, if it was run on this machine."""
    results = cache.parent / _LEADERBOARD
    return {"leaderboard": json.loads(results.read_text())} if results.exists() else {}


def _sources(sources: Sources) -> Document:
    return {
        "fonts": [font.name for font in sources.fonts],
        "voice": "espeak-ng" if sources.has_espeak else "the sandbox's own synthesis",
    }


def _say(what: str, began: float) -> None:
    console.print(f"{time.monotonic() - began:6.0f} s  {what}", style="dim")


if __name__ == "__main__":
    main()
