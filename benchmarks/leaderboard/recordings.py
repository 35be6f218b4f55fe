"""The real recordings of the leaderboard: those of the accuracy bench, in the order of their use.

Not here: the list and how it is fetched (`benchmarks/accuracy/real`).
"""

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache, partial
from pathlib import Path

import av

from benchmarks.accuracy.real.library import ListedFile, find_file, listed_files, read_stereo
from benchmarks.accuracy.sounds.tracks import Part
from benchmarks.leaderboard.making import Recordings
from sandbox.world.sound.instruments import Samples

_MOST_S = 60.0
"""The matcher uses no more of a sound."""
_LEAST_S = 10.0
"""The toolkit leaves shorter recordings out."""
_QUOTING = "drascula-music"
"""A package whose tracks quote one another: tracks 1 and 30 play the same 6 s at the same time.
The toolkit asks for recordings that do not match each other."""


class RecordingMissingError(Exception):
    """A recording was not fetched."""


def find_durations(part: Part, folder: Path) -> dict[str, float]:
    """Return names and used lengths in seconds of a part, neighbours of different genres.

    Raises:
        RecordingMissingError: Not all recordings are there.
    """
    durations = {}
    files = [file for file in listed_files("music") if file.package != _QUOTING]
    for file in vary(file for file in files if file.part == part):
        path = folder / file.place
        if not path.exists():
            raise RecordingMissingError(f"{path} is missing: run `make setup-bench-audio`.")
        with av.open(str(path)) as opened:
            durations[file.name] = min(_MOST_S, (opened.duration or 0) / av.time_base)
    return {name: length_s for name, length_s in durations.items() if length_s >= _LEAST_S}


def vary(files: Iterable[ListedFile]) -> list[ListedFile]:
    """Sort: first one file of each genre, then a second one of each, and so on."""
    counts: Counter[str] = Counter()
    ranked = []
    for file in files:
        ranked.append((counts[file.genre], file.genre, file))
        counts[file.genre] += 1
    return [file for _, _, file in sorted(ranked, key=lambda entry: entry[:2])]


def reader(folder: Path) -> Recordings:
    """Return a function that reads a recording by its name, and keeps the last few."""
    return lru_cache(maxsize=48)(partial(_read, folder))


def _read(folder: Path, name: str) -> Samples:
    path = folder / find_file(name).place
    return read_stereo(path, share=0, length_s=_MOST_S).mean(axis=0)
