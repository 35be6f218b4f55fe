"""Sound files as the references of an index. Not here: which files, what is printed."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from pipelines.audio.decode.decoder_pool import DecoderPool
from pipelines.audio.features.sounds import SoundMeasurement
from pipelines.audio.index.index_folder import IndexFolder, file_key
from warehouse.input_files import file_problem

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
