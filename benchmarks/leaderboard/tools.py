"""The tools: each stores the same references and searches for the same queries.

To add a tool, write its class and list it in `TOOLS`. Not here: what detections are worth
(`scoring.py`).
"""

import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import ExitStack
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Self

from benchmarks.accuracy import chromaprint
from benchmarks.accuracy.sounds.filters import has_ffmpeg
from benchmarks.leaderboard.scoring import Detection
from pipelines.audio.decode.decoder_pool import DecoderPool
from pipelines.audio.features.sounds import MeasuredSound
from pipelines.audio.index.identify import identify
from pipelines.audio.index.reference_index import ReferenceIndex
from warehouse.records.evidence import VERDICT_REVISION, MatchThresholds


class Tool(ABC):
    """A tool; used in a `with` block.

    Attributes:
        key: Its name on the command line.
        name: Its name in tables.
        how: How it is used here.
    """

    key: str
    name: str
    how: str

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    @staticmethod
    @abstractmethod
    def is_installed() -> bool:
        """Whether it can be used on this machine."""

    @abstractmethod
    def version(self) -> str:
        """Return its version."""

    @abstractmethod
    def store(self, files: Mapping[str, Path]) -> None:
        """Store the references by name."""

    @abstractmethod
    def search(self, query: Path) -> list[Detection]:
        """Return the references that it finds in a query, each at most once."""


class Sametrack(Tool):
    """This project: the index proposes references, the matcher decides."""

    key = "sametrack"
    name = "Sametrack"
    how = "`pipelines.audio.index.identify`, as `sametrack audio identify` uses it"

    def __init__(self) -> None:
        self._opened = ExitStack()
        self._index = ReferenceIndex()
        self._sounds: list[tuple[str, MeasuredSound]] = []

    def __enter__(self) -> Self:
        self._pool = self._opened.enter_context(DecoderPool(1))
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    @staticmethod
    def is_installed() -> bool:
        return True

    def version(self) -> str:
        return f"{version('sametrack')}, verdict revision {VERDICT_REVISION}"

    def store(self, files: Mapping[str, Path]) -> None:
        for name, file in files.items():
            sound = self._pool.submit(file).result()
            if isinstance(sound, MeasuredSound):
                self._sounds.append((name, sound))
        self._index.add([sound.features.peaks for _, sound in self._sounds])

    def search(self, query: Path) -> list[Detection]:
        clip = self._pool.submit(query).result()
        results = identify(
            clip, self._index, lambda number: self._sounds[number][1], limits=MatchThresholds()
        )
        return [
            Detection(
                reference=self._sounds[result.reference][0],
                score=result.evidence.score or 0.0,
                is_accepted=result.is_match,
                query_s=result.evidence.candidate_start_s or 0.0,
                reference_s=result.evidence.reference_start_s or 0.0,
                length_s=result.evidence.overlap_s or 0.0,
            )
            for result in results
        ]


class Chromaprint(Tool):
    """Fingerprints by `fpcalc`; their best six seconds are compared, because it has no search."""

    key = "chromaprint"
    name = "Chromaprint"
    how = (
        "`fpcalc -raw -length 0 FILE`, then bit errors in the best six seconds of all offsets "
        "(`benchmarks/accuracy/chromaprint.py`)"
    )

    def __init__(self) -> None:
        self._prints: dict[str, chromaprint.Print] = {}

    @staticmethod
    def is_installed() -> bool:
        return chromaprint.has_fpcalc()

    def version(self) -> str:
        ended = subprocess.run(["fpcalc", "-version"], check=True, capture_output=True, text=True)
        return ended.stdout.split()[2]

    def store(self, files: Mapping[str, Path]) -> None:
        self._prints = {name: _whole_print(file) for name, file in files.items()}

    def search(self, query: Path) -> list[Detection]:
        query_print = _whole_print(query)
        return [
            _as_detection(name, chromaprint.best_window(stored_print, query_print))
            for name, stored_print in self._prints.items()
        ]


def _as_detection(name: str, window: chromaprint.Window) -> Detection:
    return Detection(
        reference=name,
        score=window.similarity,
        is_accepted=None,
        query_s=window.right * chromaprint.ITEM_S,
        reference_s=window.left * chromaprint.ITEM_S,
        length_s=window.items * chromaprint.ITEM_S,
    )


def _whole_print(file: Path) -> chromaprint.Print:
    return chromaprint.fingerprint(file, most_s=0)


class Audfprint(Tool):
    """Landmarks, by the fork of audfprint that the Python package index has."""

    key = "audfprint"
    name = "audfprint (audfprint2)"
    how = (
        "`audfprint2 new` and `match --find-time-range` with `--density 70`, else its defaults, "
        "called as a library"
    )
    _DENSITY = 70.0  # landmarks a second; of its default, 20, short queries have few

    def __init__(self) -> None:
        import audfprint2  # noqa: PLC0415 - an optional tool

        # The command's defaults, which are not the library's.
        self._stored = audfprint2.HashTable(hashbits=20, depth=100, maxtime=16_384)
        self._storing = audfprint2.Analyzer(density=self._DENSITY)
        self._querying = audfprint2.Analyzer(density=self._DENSITY)
        self._querying.shifts = 4
        self._matcher = audfprint2.Matcher()
        self._matcher.window, self._matcher.threshcount = 2, 5
        self._matcher.find_time_range, self._matcher.time_quantile = True, 0.05

    @staticmethod
    def is_installed() -> bool:
        return find_spec("audfprint2") is not None and has_ffmpeg()

    def version(self) -> str:
        return version("audfprint2")

    def store(self, files: Mapping[str, Path]) -> None:
        self._names = list(files)  # in the order of the table's own numbers
        for name, file in files.items():
            landmarks = self._storing.wavfile2hashes(str(file))
            self._stored.store(name, [(int(at), int(mark)) for at, mark in landmarks])

    def search(self, query: Path) -> list[Detection]:
        hop_s = self._querying.n_hop / self._querying.target_sr
        landmarks = self._querying.wavfile2hashes(str(query))
        if not len(landmarks):
            return []
        detections: dict[str, Detection] = {}
        for row in self._matcher.match_hashes(self._stored, landmarks):
            number, count, shift, _, _, first, last = (int(value) for value in row)
            detection = Detection(
                reference=self._names[number],
                score=count,
                is_accepted=True,
                query_s=first * hop_s,
                reference_s=(first + shift) * hop_s,
                length_s=(last - first) * hop_s,
            )
            # Rows are sorted: the first one of a reference has most landmarks.
            detections.setdefault(detection.reference, detection)
        return list(detections.values())


TOOLS: dict[str, type[Tool]] = {tool.key: tool for tool in (Sametrack, Chromaprint, Audfprint)}
LEFT_OUT = {
    "Panako": "no package of Debian, of the Python package index or of npm has it",
    "Olaf": "no package of Debian, of the Python package index or of npm has it; packages of that "
    "name are other programs",
}
"""Tools that cannot be installed from packages, and why."""
