"""Which of many references does a clip carry? The index proposes, the matcher decides.

Not here: the index (`reference_index.py`), files and stores.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path

from pipelines.audio.decode.decoder_pool import DecoderPool
from pipelines.audio.features.sounds import MeasuredSound, SoundMeasurement
from pipelines.audio.index.reference_index import IndexFolder, ReferenceIndex, file_key
from pipelines.audio.matching.verify import compare_pair
from warehouse.files import file_problem
from warehouse.records.evidence import MATCHES, MatchThresholds, PairEvidence

MOST_COMPARED = 5
"""References that are compared with each clip, because a catalogue may have a recording twice."""
MOST_TRIED = 20
"""References that are compared if none of the first ones matches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identification:
    """A reference that was compared with a clip, and the matcher's evidence.

    Attributes:
        reference: Its number in the index.
        votes: Peaks of the clip that voted for it in the index; 0 if it did not propose it.
        evidence: The matcher's evidence; the verdict is its alone.
    """

    reference: int
    votes: int
    evidence: PairEvidence

    @property
    def is_match(self) -> bool:
        """Whether the clip carries this recording, changed or not."""
        return self.evidence.verdict in MATCHES


def identify(
    clip: SoundMeasurement,
    index: ReferenceIndex,
    read_sound: Callable[[int], SoundMeasurement | None],
    *,
    limits: MatchThresholds,
    gone_count: int = 0,
    is_thorough: bool = False,
) -> list[Identification]:
    """Compare a clip with the likeliest references; return them, the best first.

    A clip that cannot be compared has no result. Unless `is_thorough` is set, a recording that the
    index does not propose is not compared, so results without a match say nothing about it.

    Args:
        clip: The clip.
        index: The index of the references.
        read_sound: Returns a reference by its number; None if it is no reference any more.
        limits: Limits of the matcher.
        gone_count: How many in the index are no references any more: each may have as many votes
            as the reference that replaces it, and must not take its place.
        is_thorough: Compare with all references if none of the proposed ones matches.
    """
    if not isinstance(clip, MeasuredSound):
        return []
    hits = index.search(clip.features.peaks, most=MOST_TRIED + gone_count)
    votes = {hit.reference: hit.votes for hit in hits}
    results: dict[int, Identification] = {}
    # Read lazily: a number is skipped if it was compared by then.
    others = (number for number in range(index.count) if number not in results)
    sounds = chain(
        islice(_sounds(votes, read_sound), MOST_TRIED),
        _sounds(others if is_thorough else (), read_sound),
    )
    for number, sound in sounds:
        evidence = compare_pair(sound, clip, limits=limits)
        results[number] = Identification(
            reference=number, votes=votes.get(number, 0), evidence=evidence
        )
        has_match = any(result.is_match for result in results.values())
        if len(results) >= MOST_COMPARED and has_match:
            break
    return sorted(
        results.values(),
        key=lambda result: (result.evidence.credibility, result.votes),
        reverse=True,
    )


def _sounds(
    numbers: Iterable[int], read_sound: Callable[[int], SoundMeasurement | None]
) -> Iterator[tuple[int, SoundMeasurement]]:
    """Yield the references among these numbers, in the order of comparison."""
    for number in numbers:
        sound = read_sound(number)
        if sound is not None:
            yield number, sound


# Sound files as the references of an index.

_BATCH = 100
_KEPT_SOUNDS = 64


class FileReferences:
    """Sound files as references: measured once for the index, and again when compared.

    Args:
        files: Names and paths.
        pool: Measures them.
        folder: Keeps the index; None keeps it in memory alone.

    Attributes:
        index: The index of those that could be measured.
        unusable: Name and reason of each file that could not.
    """

    def __init__(
        self, files: Sequence[tuple[str, Path]], pool: DecoderPool, folder: Path | None
    ) -> None:
        self.unusable: list[tuple[str, str]] = []
        self._pool = pool
        self._files: dict[str, tuple[str, Path]] = {}
        for name, path in files:
            problem = file_problem(path)
            if problem is None:
                self._files[file_key(path.absolute())] = (name, path)
            else:
                self.unusable.append((name, problem.reason))
        self._kept = IndexFolder(folder)
        self.index = self._kept.index
        self._measured = lru_cache(maxsize=_KEPT_SOUNDS)(lambda path: pool.submit(path).result())

    @property
    def count(self) -> int:
        """Number of references that could be measured."""
        return sum(key in self._files for key in self._kept.keys)

    def add_missing(self, on_measured: Callable[[int, int], object]) -> None:
        """Measure the files that the index lacks; `on_measured` gets how many of how many are done.

        Raises:
            ValueError: There are more references than an index holds.
            OSError: The index cannot be kept.
        """

        def measure(keys: Sequence[str]) -> Iterator[SoundMeasurement]:
            futures = [self._pool.submit(self._files[key][1]) for key in keys]
            return (future.result() for future in futures)

        reasons = self._kept.add_missing(list(self._files), measure, on_measured, at_once=_BATCH)
        self.unusable += [(self._files[key][0], reason) for key, reason in reasons.items()]

    def read_sound(self, number: int) -> SoundMeasurement | None:
        """Measure a reference again; None if its file has changed, or is not one of these files."""
        file = self._files.get(self._kept.keys[number])
        return None if file is None else self._measured(file[1])

    def name(self, number: int) -> str:
        """Return the name that the table gives the file, or its path."""
        return self._files[self._kept.keys[number]][0]
