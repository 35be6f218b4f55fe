"""Which of 1,000 recordings is a clip that was stretched? The index and the matcher, measured.

`python -m benchmarks.accuracy.identify [--references 1000] [--clips 20] [--folder FOLDER]`.
References are composed and played by the sandbox. A clip is a piece of one of them, of at most 20 s
as heard, played faster or slower in two ways: with its pitch, as a tape, and at the same pitch, by
the filter that editing tools use. `measure_identification` is the measurement; others may call it.
"""

import argparse
import json
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import psutil

from benchmarks.accuracy.sounds.studio import play_work
from benchmarks.accuracy.sounds.tracks import Sources, Track
from benchmarks.accuracy.sounds.transforms import sped, stretched
from benchmarks.speed.running import counted
from pipelines.audio.features.measurement import measure_features
from pipelines.audio.features.sound_features import FEATURE_VERSION, Features
from pipelines.audio.features.sounds import MeasuredSound, pack_features, unpack_features
from pipelines.audio.index.identify import identify
from pipelines.audio.index.reference_index import ReferenceIndex
from sandbox.world.content.tracks import BASE_S
from sandbox.world.sound.instruments import RATE, Samples
from warehouse.records.evidence import MatchThresholds

FACTORS = tuple(2 ** (step / 7) for step in range(-7, 8))
"""15 factors from half to double."""
FAMILIES = {"speed": sped, "tempo": stretched}
HEARD_S = 20.0
_WORLD_SEED = 5_000
_SCORES = 12


@dataclass
class Identified:
    """What was measured.

    Attributes:
        references: Number of references.
        found: By family and factor, clips whose best reference is the right one with a match, and
            all clips.
        unrelated: Clips of no reference that were accepted, and all such clips.
        index_ms: Processor time to index one reference, in ms.
        index_bytes: Size of the index per reference.
        query_ms: Processor time of one search in the index, in ms.
        clip_ms: Processor time to identify one measured clip, comparisons included, in ms.
        memory_mb: Memory of the process at the end.
    """

    references: int
    found: dict[str, list[int]] = field(default_factory=dict)
    unrelated: list[int] = field(default_factory=lambda: [0, 0])
    index_ms: float = 0.0
    index_bytes: float = 0.0
    query_ms: float = 0.0
    clip_ms: float = 0.0
    memory_mb: float = 0.0

    def share(self, family: str | None = None) -> float:
        """Return the share of clips identified, of one family or of all."""
        rows = [row for name, row in self.found.items() if family in (None, name.split()[0])]
        return sum(right for right, _ in rows) / max(1, sum(total for _, total in rows))


def measure_identification(
    folder: Path, *, references: int, clips: int, unrelated: int = 20, processes: int = 1
) -> Identified:
    """Measure with clips of every so many references and of tracks that are no references."""
    sounds = make_references(folder, count=references, processes=processes)
    measured = Identified(references=references)
    index = ReferenceIndex()
    index.add([sounds[0].features.peaks])  # loads the compiled loops
    index = ReferenceIndex()
    began = time.process_time()
    index.add([sound.features.peaks for sound in sounds])
    measured.index_ms = 1000 * (time.process_time() - began) / references
    measured.index_bytes = index.bytes / references
    numbers = range(0, references, max(1, references // clips))
    work = len(numbers) * len(FACTORS) * len(FAMILIES) + unrelated
    strangers = range(references, references + unrelated)
    for number, name, clip in counted(
        _clips(numbers, strangers), what="identifying clips", total=work
    ):
        began = time.process_time()
        answer = identify(clip, index, sounds.__getitem__, limits=MatchThresholds())
        measured.clip_ms += 1000 * (time.process_time() - began) / work
        best = answer[0] if answer and answer[0].is_match else None
        if number >= references:
            measured.unrelated[0] += best is not None
            measured.unrelated[1] += 1
            began = time.process_time()
            index.search(clip.features.peaks, most=1)
            measured.query_ms += 1000 * (time.process_time() - began) / unrelated
            continue
        row = measured.found.setdefault(name, [0, 0])
        row[0] += best is not None and best.reference == number
        row[1] += 1
    measured.memory_mb = psutil.Process().memory_info().rss / 1e6
    return measured


def make_references(folder: Path, *, count: int, processes: int = 1) -> list[MeasuredSound]:
    """Return the features of so many recordings of 34 s; they are kept in the folder."""
    folder = folder / f"references-{FEATURE_VERSION}"
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{number}.features" for number in range(count)]
    missing = [number for number, path in enumerate(paths) if not path.exists()]
    if processes <= 1:
        for number in counted(missing, what="playing references", total=len(missing)):
            _keep(paths[number], number)
    else:
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
            made = pool.map(_keep, [paths[number] for number in missing], missing)
            list(counted(made, what="playing references", total=len(missing)))
    return [_sound(unpack_features(path.read_bytes())) for path in paths]


def _keep(path: Path, number: int) -> None:
    part = path.with_suffix(".part")
    part.write_bytes(pack_features(measure_features(_play(number), RATE)))
    part.replace(path)


def _play(number: int) -> Samples:
    seed, score = divmod(number, _SCORES)
    track = Track(number=number, kind="world", seed=_WORLD_SEED + seed, score=score)
    return play_work(track, "own", Sources())


def _clips(numbers: range, strangers: range) -> Iterator[tuple[int, str, MeasuredSound]]:
    for number in numbers:
        samples = _play(number)
        for family, change in FAMILIES.items():
            for factor in FACTORS:
                clip = change(_piece(samples, number, factor), factor)
                yield number, f"{family} {factor:.2f}", _sound(measure_features(clip, RATE))
    for number in strangers:
        clip = _piece(_play(number), number, 1.0)
        yield number, "unrelated", _sound(measure_features(clip, RATE))


def _piece(samples: Samples, number: int, factor: float) -> Samples:
    """Return a piece at a drawn place that is heard for 20 s, or all there is."""
    length_s = min(HEARD_S * factor, BASE_S)
    start_s = float(np.random.default_rng(number).uniform(0, BASE_S - length_s))
    return samples[round(start_s * RATE) : round((start_s + length_s) * RATE)]


def _sound(features: Features) -> MeasuredSound:
    return MeasuredSound(
        sha256="",
        features=features,
        duration_s=features.duration_s,
        sample_rate_hz=RATE,
        codec="",
        library_version="",
    )


def main() -> None:
    """Measure, print, and keep the figures in the folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--references", type=int, default=1000)
    parser.add_argument("--clips", type=int, default=20, help="references of which clips are made")
    parser.add_argument("--unrelated", type=int, default=20)
    parser.add_argument("--folder", type=Path, default=Path("reports/bench-identify"))
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    measured = measure_identification(
        given.folder,
        references=given.references,
        clips=given.clips,
        unrelated=given.unrelated,
        processes=given.processes,
    )
    kept = given.folder / "results.json"  # the accuracy card reads it
    kept.write_text(json.dumps(asdict(measured), indent=1), encoding="utf-8")
    for name, (right, total) in measured.found.items():
        print(f"{name}: {right} of {total}")
    for family in (*FAMILIES, None):
        print(f"{family or 'all'}: top-1 {measured.share(family):.3f} (goal 0.97)")
    print(json.dumps({k: v for k, v in asdict(measured).items() if k != "found"}))


if __name__ == "__main__":
    main()
