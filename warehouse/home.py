"""The home of one world: which worlds there are, its folder below `DATA_HOME`, its disk and files.

Errors of the disk and of the libraries that read and write its files become our own here.
"""

import errno
import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Literal
from uuid import uuid4

from warehouse.records import errors
from warehouse.records.errors import WarehouseUnavailableError
from warehouse.records.evidence import Excerpt

# Names of providers and worlds: the data of one profile, or of a provider with its own data.

DataProvider = Literal["vidplat-public", "browser-public", "mock", "file", "vidplat-web"]
MusicProvider = Literal["public-graph", "mobileapp-guest", "browser-public"]
OWN_WORLDS = frozenset({"mock", "file"})
"""Providers whose data is in a world of their name, whatever the profile."""
_REAL = frozenset({"public", "file"})


def is_demo_world(world: str) -> bool:
    """Return True unless the data comes from the public platform or from the user's own files."""
    return world not in _REAL


# The home of one world: the folder below `DATA_HOME` with its stores, and its marker file.
#
# Opening the stores is in `lake` and `control`; settings may move a store elsewhere.

LAYOUT_VERSION = 1
PSEUDONYMS_KEY = "pseudonyms.key"
_MARK = "world.json"
_WORLD_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


@dataclass(frozen=True, slots=True)
class Home:
    """The folder of one world. `root` is absolute."""

    root: Path
    world: str

    @property
    def lake_url(self) -> str:
        """Root folder of the Delta tables."""
        return str(self.root / "lake")

    @property
    def control_url(self) -> str:
        """SQLAlchemy URL of the control store."""
        return f"sqlite:///{self.root / 'control.sqlite'}"

    @property
    def pseudonyms_key(self) -> Path:
        """Key of the pseudonyms in exports; readable by its owner only."""
        return self.root / PSEUDONYMS_KEY

    @property
    def dagster_dir(self) -> Path:
        """Storage of the orchestrator."""
        return self.root / "dagster"

    @property
    def cache_dir(self) -> Path:
        """Files that can be created again."""
        return self.root / "cache"

    @property
    def reports_dir(self) -> Path:
        """Reports written for users."""
        return self.root / "reports"

    @property
    def digests_dir(self) -> Path:
        """Digests of watchlist runs."""
        return self.root / "digests"

    @property
    def sounds_dir(self) -> Path:
        """Audio streams while they are being decoded."""
        return self.root / "sounds"


def open_home(data_home: Path, world: str) -> Home:
    """Create or open `data_home/<world>/` with its folders.

    Raises:
        InvalidParameterError: `world` is not a valid folder name.
        WrongWorldError: The folder belongs to another world.
        StoreTooNewError: A newer Sametrack created it.
        WarehouseUnavailableError: The folder cannot be created or read.
    """
    if not _WORLD_NAME.fullmatch(world):
        raise errors.InvalidParameterError(f"{world!r} is not a valid world name")
    home = Home(data_home.expanduser().resolve() / world, world)
    try:
        home.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        _mark(home)
        # The lake and the control store create their own files.
        for folder in (home.dagster_dir, home.cache_dir, home.reports_dir, home.sounds_dir):
            folder.mkdir(exist_ok=True)
    except OSError as error:
        raise errors.WarehouseUnavailableError(
            f"the home of world {world!r} cannot be opened: {error.strerror}",
            hint="check DATA_HOME, its owner and the free disk space",
        ) from error
    return home


def read_home_world(folder: Path) -> str | None:
    """Return the world whose home a folder is, or None. Nothing is created."""
    try:
        document = json.loads((folder / _MARK).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    world = document.get("world") if isinstance(document, dict) else None
    return world if isinstance(world, str) else None


def find_homes(data_home: Path) -> dict[Path, str]:
    """Return the homes directly below a folder, with their worlds. Nothing is created."""
    paths = sorted(data_home.iterdir()) if data_home.is_dir() else []
    return {path: world for path in paths if (world := read_home_world(path)) is not None}


def _mark(home: Home) -> None:
    """Write the mark of a new home, and refuse a home of another world or a newer layout."""
    mark = home.root / _MARK
    if not mark.exists():
        new = {"world": home.world, "layout_version": LAYOUT_VERSION}
        write_once(mark, json.dumps(new).encode())
    # Read it in any case: another process may have written it first.
    try:
        document = json.loads(mark.read_text(encoding="utf-8"))
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise errors.WrongWorldError(
            f"world.json of the home of world {home.world!r} is unreadable",
            hint="restore world.json or choose another DATA_HOME",
        )
    if document.get("world") != home.world:
        raise errors.WrongWorldError(
            f"this home belongs to world {document.get('world')!r}, not to {home.world!r}",
            hint="worlds never share a home: choose another DATA_HOME",
        )
    version = document.get("layout_version")
    if not isinstance(version, int) or version > LAYOUT_VERSION:
        raise errors.StoreTooNewError(
            f"the home has layout version {version}, this Sametrack supports {LAYOUT_VERSION}",
            hint="update Sametrack or choose another DATA_HOME",
        )


def write_once(path: Path, content: bytes) -> None:
    """Write a file that only its owner may read; of several processes the first one wins."""
    draft = path.with_name(f"{path.name}.{uuid4().hex}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())  # before the link, which may reach the disk first
    try:
        # A link fails if the file exists, where a rename would replace what another process wrote.
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


# Free disk space: refuse to write before the disk is full; and whether a folder can be written.
#
# New jobs are refused much earlier (`MIN_FREE_DISK_MB`).

MIN_FREE_BYTES = 50 * 1024 * 1024
"""A full disk breaks more than one write, and running scans must still be able to finish."""

_MEGABYTE = 1024 * 1024

type FreeBytes = Callable[[str], int]
"""Returns the free bytes on the disk of a folder."""


def free_bytes(folder: str) -> int:
    """Return the free bytes as reported by the file system."""
    return shutil.disk_usage(folder).free


def free_megabytes(folder: Path) -> int:
    """Return the free space on the disk of a folder, which `MIN_FREE_DISK_MB` is compared with."""
    return free_bytes(str(folder)) // _MEGABYTE


def why_unwritable(folder: Path) -> str | None:
    """Return why a folder cannot be written, or None if it can.

    For example `it is read-only for this process`.
    """
    # Writing is the only test: a file system that became read-only after an error still grants
    # the permission.
    try:
        with TemporaryFile(dir=folder):
            return None
    except OSError as error:
        if error.errno in {errno.EROFS, errno.EACCES, errno.EPERM}:
            return "it is read-only for this process"
        return f"it cannot be written ({error.strerror})"


# Files next to the lake that may be missing: excerpts of compared sounds, and small pictures.
#
# Excerpts cannot be created again once the sounds are deleted, but nothing depends on them; their
# position in the sound is chosen in `warehouse/records/evidence.py`. A file that was cut off
# counts as missing.

_HASH = re.compile("[0-9a-f]{64}")
_LENGTH = re.compile(rb"(?:Info|Xing).{8}(.{4})", re.DOTALL)
"""Of the header that LAME writes into the first frame: a name, flags, frames, bytes from there."""
_HEAD_BYTES = 200
_ABSENT_S = 3600.0
_BEGIN, _END = b"\xff\xd8", b"\xff\xd9"  # JPEG's markers


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcerptFolder:
    """A folder of MP3 files, named by the hash of the sound and the position of the excerpt.

    Attributes:
        folder: The folder; created with the first file.
        max_bytes: Total size; the oldest files are deleted first. 0 keeps no file.
        max_age_s: Older files are not served, and deleted.
    """

    folder: Path
    max_bytes: int
    max_age_s: float

    def write(self, excerpt: Excerpt, encoded: bytes) -> None:
        """Store an excerpt atomically."""
        _write(self._path(excerpt), encoded)

    def read(self, excerpt: Excerpt) -> bytes | None:
        """Return a stored excerpt, or None if it is missing, damaged or too old."""
        return self._path(excerpt).read_bytes() if self.has(excerpt) else None

    def has(self, excerpt: Excerpt) -> bool:
        """Return True if `read` would return the excerpt."""
        try:
            with self._path(excerpt).open("rb") as file:
                status, head = os.fstat(file.fileno()), file.read(_HEAD_BYTES)
        except FileNotFoundError:
            return False
        # A file that was cut off is shorter than its first frame states. An ID3 tag comes before
        # the frames; its lengths have no byte 0xff.
        length = _LENGTH.search(head)
        if length is None or status.st_size != head.find(b"\xff") + int.from_bytes(length[1]):
            return False
        return self._is_young(status.st_mtime)

    def delete_surplus(self) -> None:
        """Delete what is too old, then the oldest files until the rest fits."""
        for path, modified, size_so_far in _newest_first(self.folder, "*.mp3"):
            if size_so_far > self.max_bytes or not self._is_young(modified):
                path.unlink(missing_ok=True)

    def _path(self, excerpt: Excerpt) -> Path:
        if not _HASH.fullmatch(excerpt.sha256):
            raise ValueError("an excerpt is named by the hash of its sound")
        start, length = round(1000 * excerpt.start_s), round(1000 * excerpt.duration_s)
        return self.folder / f"{excerpt.sha256}-{start}-{length}.mp3"

    def _is_young(self, modified: float) -> bool:
        return time.time() - modified <= self.max_age_s


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureFolder:
    """A folder of JPEG files, named by the hash of what they show.

    An empty file says that there was no picture, so that it is not requested again at once.

    Attributes:
        folder: The folder; created with the first file.
        max_bytes: Total size; the oldest files are deleted first.
        max_count: Number of files.
        clock: Returns the present time in Unix seconds.
    """

    folder: Path
    max_bytes: int
    max_count: int
    clock: Callable[[], float] = time.time

    def write(self, name: str, picture: bytes) -> None:
        """Store a picture atomically; empty bytes say that the video has no picture."""
        _write(self._path(name), picture)

    def read(self, name: str) -> bytes | None:
        """Return a stored picture, empty bytes if there was no picture, or None if unknown."""
        path = self._path(name)
        try:
            picture, written = path.read_bytes(), path.stat().st_mtime
        except FileNotFoundError:
            return None
        if not picture:
            return None if self.clock() - written > _ABSENT_S else picture
        return picture if picture.startswith(_BEGIN) and picture.endswith(_END) else None

    def delete_surplus(self) -> None:
        """Delete the oldest files until number and size fit."""
        files = _newest_first(self.folder, "*.jpg")
        for at, (path, _, size_so_far) in enumerate(files):
            if size_so_far > self.max_bytes or at >= self.max_count:
                path.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self.folder / f"{hashlib.sha256(name.encode()).hexdigest()}.jpg"


def open_excerpts(home: Home, *, max_mb: int, days: int) -> ExcerptFolder:
    """Return the excerpt folder of a world with these limits."""
    return ExcerptFolder(
        folder=home.cache_dir / "excerpts", max_bytes=max_mb * 1_000_000, max_age_s=days * 86_400.0
    )


def open_pictures(home: Home, *, max_mb: int, max_count: int) -> PictureFolder:
    """Return the folder of pictures of a world with these limits."""
    return PictureFolder(
        folder=home.cache_dir / "pictures", max_bytes=max_mb * 1_000_000, max_count=max_count
    )


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{uuid4().hex}.part")
    draft.write_bytes(content)
    draft.replace(path)


def _newest_first(folder: Path, pattern: str) -> Iterator[tuple[Path, float, int]]:
    """Yield each file, when it was modified, and the bytes of it and of all newer files."""
    files = [(path, path.stat()) for path in folder.glob(pattern)]
    size_so_far = 0
    for path, status in sorted(files, key=lambda file: -file[1].st_mtime):
        size_so_far += status.st_size
        yield path, status.st_mtime, size_so_far


# Translation of storage library errors.
#
# A library's message never goes into `detail`, because it can contain paths and URLs; the cause
# stays attached for the log. Of the message only the name of a damaged or missing file is used,
# without its folder.

_HINT_OF_STORE = "check that the store is reachable, the free disk space and the owner of the files"
_HINT_OF_DAMAGE = (
    "restore the last backup with `sametrack restore` into a new DATA_HOME; "
    "no other file was changed, so keep this one to recover what is newer"
)
_HINT_OF_PERMISSION = (
    "mount the disk for writing, and check the owner and the permissions of the files in DATA_HOME"
)
_DATA_FILE = re.compile(r"[A-Za-z0-9_.=-]+\.(?:parquet|duckdb)")
_DAMAGES = {
    "file is not a database": "control.sqlite",
    "database disk image is malformed": "control.sqlite",
    "Kernel error: Json error": "a file of its transaction log (_delta_log)",
    "No magic bytes found": None,
    "too small to be a Parquet file": None,
    "No files found that match": None,
    "TProtocolException": None,
    "Invalid Parquet": None,
    "Requested range was invalid": None,
    "Object at location": None,
}
"""Messages of libraries about a damaged or missing file, and its name if they do not state it."""
_NO_PERMISSION = (
    "attempt to write a readonly database",
    "unable to open database file",
    "Permission denied",
    "Read-only file system",
)
"""Messages of libraries and the system about files on a read-only disk, or of another owner."""
_DISK_FAULTS = ("disk I/O error", "Input/output error")
_HINT_OF_FAULT = "look at the system's log: the disk may be broken, or read-only since an error"


@contextmanager
def translate_errors(
    what: str, *, causes: tuple[type[Exception], ...], retry_after: float | None = None
) -> Iterator[None]:
    """Translate `causes`, raised while doing `what`; `retry_after` as in `SametrackError`.

    Raises:
        WarehouseUnavailableError: In place of any of them.
    """
    try:
        yield
    except causes as error:
        damaged = find_damaged_file(error)
        if damaged is not None:
            # Trying again does not mend a file, so there is no `retry_after`.
            raise WarehouseUnavailableError(
                f"{what} failed: {damaged} is damaged or missing", hint=_HINT_OF_DAMAGE
            ) from error
        text = str(error)
        if any(message in text for message in _NO_PERMISSION):
            problem = ": the disk is read-only, or the files may not be written"
            hint = _HINT_OF_PERMISSION
        elif any(message in text for message in _DISK_FAULTS):
            problem, hint = ": the disk reports an error", _HINT_OF_FAULT
        else:
            problem, hint = f" ({type(error).__name__})", _HINT_OF_STORE
        raise WarehouseUnavailableError(
            f"{what} failed{problem}", hint=hint, retry_after=retry_after
        ) from error


def find_damaged_file(error: Exception) -> str | None:
    """Return the name of the file that an error says is damaged or missing; None for others."""
    text = str(error)
    for message, name in _DAMAGES.items():
        if message in text:
            match = _DATA_FILE.search(text)
            return name or (match[0] if match else "a file")
    return None
