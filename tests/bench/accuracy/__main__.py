"""`make bench-audio`: how well the ear hears, what it costs, and the card that says so.

The first run makes some 2,000 files; later runs find them, and the features, in the cache.
"""

import argparse
import json
import time
from pathlib import Path

from rich.console import Console

from tests.bench.accuracy.accuracy import (
    PARTS,
    Document,
    listen,
    measure_anchors,
    measure_part,
    measure_unrelated,
)
from tests.bench.accuracy.card import console_tables, write_card
from tests.bench.accuracy.comparing import Bench
from tests.bench.accuracy.edits import measure_edits
from tests.bench.accuracy.findings import write_findings
from tests.bench.accuracy.hearing import Hearing
from tests.bench.accuracy.making import make_clips
from tests.bench.accuracy.timing import measure_timing
from tests.bench.accuracy.tracks import Sources, Track, find_sources, list_few_tracks, list_tracks

console = Console(width=120)
_DOCS = Path("docs")
_CACHE = Path("reports/bench-audio")
_PARTS = ("accuracy", "far", "edits", "timing", "card")


def main() -> None:
    options = _options()
    sources = Sources() if options.quick else find_sources()
    tracks = list_few_tracks() if options.quick else list_tracks(sources)
    cache = Path(options.cache)
    cache.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    clips = make_clips(tracks, sources, cache, processes=options.processes)
    _say(f"clips are made ({sources.label})", began)
    hearing = Hearing(clips, cache)
    new = listen(tracks, hearing, workers=options.processes)
    _say(f"clips are heard ({new} new)", began)
    kept = cache / ("quick.json" if options.quick else "results.json")
    document: Document = json.loads(kept.read_text()) if kept.exists() else {}
    document |= {"sources": _sources(sources), "tracks": len(tracks)}
    if options.only in {None, "accuracy"}:
        document |= _accuracy(tracks, hearing, cache, options, began)
        kept.write_text(json.dumps(document, indent=1))  # the timing may be broken off
    if options.only == "far":
        document["unrelated"] = _unrelated(tracks, hearing, options)
    if options.only in {None, "edits"} and not options.quick:
        document["edits"] = measure_edits(tracks, clips, has_espeak=sources.has_espeak)
        kept.write_text(json.dumps(document, indent=1))
        _say("edits are compared", began)
    if options.only in {None, "timing"} and not options.quick:
        timing = measure_timing(tracks, hearing, heard_clips=options.heard_clips)
        document["timing"] = document.get("timing", {}) | timing
        _say("timing is taken", began)
    kept.write_text(json.dumps(document, indent=1))
    for table in console_tables(document):
        console.print(table)
    if not options.quick and not options.no_card:
        write_card(document, _DOCS)
        _say(f"wrote {_DOCS / 'accuracy.md'}", began)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", default=str(_CACHE), help="keep files and features here")
    parser.add_argument("--only", choices=_PARTS, default=None)
    parser.add_argument("--quick", action="store_true", help="eight tracks, no card")
    parser.add_argument("--no-card", action="store_true", help="leave docs/ alone")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--unrelated", type=int, default=20_000, help="0 keeps the last")
    parser.add_argument("--searched", type=int, default=3_000)
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


def _unrelated(tracks: list[Track], hearing: Hearing, options: argparse.Namespace) -> Document:
    with Bench(hearing, processes=options.processes) as bench:
        return measure_unrelated(
            tracks, bench, as_heard=options.unrelated, searched=options.searched
        )


def _sources(sources: Sources) -> Document:
    return {
        "fonts": [font.name for font in sources.fonts],
        "voice": "espeak-ng" if sources.has_espeak else "the sandbox's own synthesis",
    }


def _say(what: str, began: float) -> None:
    console.print(f"{time.monotonic() - began:6.0f} s  {what}", style="dim")


if __name__ == "__main__":
    main()
