"""Runs the part on real recordings: makes clips, measures them, compares, and sums up as JSON.

Not here: how it is shown (`rows.py`).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.accuracy.accuracy import listen, measure_tracks, measure_unrelated
from benchmarks.accuracy.card.findings import write_findings
from benchmarks.accuracy.comparing import Bench, called_others
from benchmarks.accuracy.full_range.measuring import (
    group_counts,
    is_found,
    summed,
    write_range_findings,
)
from benchmarks.accuracy.full_range.pairs import list_groups, list_pairs
from benchmarks.accuracy.hearing import Hearing
from benchmarks.accuracy.real.library import faults, find_file
from benchmarks.accuracy.real.mixes import list_mixes, make_mixes
from benchmarks.accuracy.real.plan import cases_of, plan, real_tracks
from benchmarks.accuracy.sounds.making import make_clips
from benchmarks.accuracy.sounds.tracks import Part, Sources, Track
from warehouse.records.evidence import VERDICT_REVISION

type Document = dict[str, Any]
ROUND = "1"
"""Raised when the same clip would sound otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RealExtent:
    """How much is made and compared; the card states it."""

    part: Part
    sources: Sources
    folder: Path
    processes: int
    recordings: int | None = None
    unrelated: int = 5_000


def missing_recordings(sources: Sources) -> list[str]:
    """Why the part cannot run here, a line each; empty if every listed file is there."""
    return faults(sources.recordings)


def measure_real(extent: RealExtent) -> Document:
    """All figures on real recordings of one part."""
    tracks = _tracks(extent)
    kept = [find_file(track.recording) for track in tracks if not track.score]
    document: Document = {
        "part": extent.part, "revision": VERDICT_REVISION, "recordings": len(kept),
        "genres": len({file.genre for file in kept}),
    }  # fmt: skip
    return document | _labelled(extent) | _edited(tracks, extent)


def measure_real_unrelated(extent: RealExtent, *, ends: float | None = None) -> Document:
    """False accepts among random clips of different recordings, through the full search."""
    tracks, hearing = _prepare_labelled(extent)
    with Bench(hearing, processes=extent.processes) as bench:
        return measure_unrelated(tracks, bench, as_heard=0, searched=extent.unrelated, ends=ends)


def _tracks(extent: RealExtent) -> list[Track]:
    """Both pieces of each recording, or of the first ones."""
    tracks = real_tracks(extent.part)
    return [t for t in tracks if extent.recordings is None or t.number < extent.recordings]


def _prepare_labelled(extent: RealExtent) -> tuple[list[Track], Hearing]:
    """Make and measure the clips of labelled pairs, of one piece of each recording."""
    tracks = [track for track in _tracks(extent) if not track.score]
    clips = make_clips(
        tracks, extent.sources, extent.folder, processes=extent.processes,
        name=f"real-labelled-{ROUND}",
    )  # fmt: skip
    hearing = Hearing(clips, extent.folder)
    listen(tracks, hearing, workers=extent.processes)
    return tracks, hearing


def _labelled(extent: RealExtent) -> Document:
    """Labelled pairs and groups, by the code of the made tracks, and unrelated pairs."""
    tracks, hearing = _prepare_labelled(extent)
    with Bench(hearing, processes=extent.processes) as bench:
        labelled, pairs, judged = measure_tracks(tracks, bench)
        unrelated = measure_unrelated(tracks, bench, as_heard=0, searched=extent.unrelated)
    target = extent.folder / f"wrong-real-{extent.part}.txt"
    write_findings(target, pairs, judged, hearing.clips)
    return {"labelled": labelled} | ({"unrelated": unrelated} if unrelated else {})


def _edited(tracks: list[Track], extent: RealExtent) -> Document:
    """Edits of the recordings, and what must stay apart."""
    mixes = list_mixes(extent.part)
    if extent.recordings:
        mixes = mixes[:: len(mixes) // extent.recordings + 1]
    clips = make_clips(
        tracks, extent.sources, extent.folder, processes=extent.processes, plan=plan,
        name=f"real-edits-{ROUND}",
    )  # fmt: skip
    both = [mix for pair in mixes for mix in (pair.reference, pair.candidate)]
    make_mixes(both, extent.sources, clips, processes=extent.processes)
    hearing = Hearing(clips, extent.folder)
    files = {clip.file for track in tracks for clip in plan(track)}
    hearing.listen(files | {mix.file for mix in both}, workers=extent.processes)
    pairs = [
        *list_pairs(tracks, [], plan=plan, cases_of=cases_of),
        *(pair.pair for pair in mixes),
    ]
    groups = list_groups([t for t in tracks if not t.score], plan=plan, cases_of=cases_of)
    with Bench(hearing, processes=extent.processes) as bench:
        judged = bench.pairs([(pair.reference, pair.candidate) for pair in pairs])
        grouped = bench.groups(groups)
    write_range_findings(extent.folder / f"wrong-real-edits-{extent.part}.txt", pairs, judged)
    return {
        "pairs": len(pairs),
        "families": summed(pairs, [is_found(*both) for both in zip(pairs, judged, strict=True)]),
        "confirmed": summed(pairs, [one.verdict == "confirmed" for one in judged]),
        "named": summed(pairs, [one.shared_part is not None for one in judged]),
        "versions": summed(pairs, [one.relation == "version" for one in judged]),
        "called_others": called_others([pair.truth != "different" for pair in pairs], judged),
        "groups": group_counts([group.truth != "different" for group in groups], grouped),
    }
