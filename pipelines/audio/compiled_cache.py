"""Where numba keeps what it compiled: beside the source, or else in a folder of this user.

Compiling takes some 28 s of processor time, and every process needs it. In an image with a
read-only root the folder beside the source has all of it, but numba refuses a folder that it cannot
write to: so it is copied to one that it accepts. A damaged file would end every process that
compares sounds, so it is deleted and compiled again.
"""

import os
import pickle
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pipelines.hidden_modules import hidden_modules

VARIABLE = "NUMBA_CACHE_DIR"


def choose_cache(source: Path) -> None:
    """Set numba's folder if the one beside `source` is not writable; call before numba loads."""
    beside = source.parent / "__pycache__"
    if VARIABLE in os.environ or _is_writable(beside) or _is_writable(beside.parent):
        _delete_damaged(Path(os.environ.get(VARIABLE) or source.parent.parent))
        return
    folder = _home_folder() or _temporary_folder()
    os.environ[VARIABLE] = str(folder)
    from numba.core.caching import UserProvidedCacheLocator  # noqa: PLC0415 -- reads the variable

    part = UserProvidedCacheLocator.get_suitable_cache_subpath(str(source))  # type: ignore[no-untyped-call]  # numba's own
    _delete_damaged(folder)
    _copy(beside, folder / part)


UNUSED = ("scipy", "scipy.linalg", "cffi", "yaml")
"""What numba looks for and no loop of this project uses: linear algebra, C functions declared with
cffi, a file of settings. To load them takes longer than to load all loops."""


@contextmanager
def without_unused_libraries() -> Iterator[None]:
    """Load numba inside of this without `UNUSED`, and without extensions of other packages.

    Linear algebra that other code compiles is loaded at its first call; only cffi's functions stay
    unknown to numba in this process. To look for extensions reads the metadata of all packages.
    """
    with hidden_modules(*UNUSED):
        yield
    from numba.core import entrypoints  # noqa: PLC0415 -- after it has been loaded as the caller wants

    entrypoints._already_initialized = True  # noqa: SLF001 -- it has no setting


def _home_folder() -> Path | None:
    try:
        home = Path.home()
    except RuntimeError:  # a user without an entry in the system's list
        return None
    cache = home / ".cache"
    return cache / "numba" if _is_writable(cache if cache.exists() else home) else None


def _temporary_folder() -> Path:
    """Return a folder that nobody else can write to: numba executes what it finds there."""
    folder = Path(tempfile.gettempdir()) / f"sametrack-numba-{os.geteuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    is_own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    if is_own and not found.st_mode & 0o077:
        return folder
    return Path(tempfile.mkdtemp(prefix="sametrack-numba-"))


def _copy(compiled: Path, target: Path) -> None:
    """Copy what is missing: code first, then the indexes that name it; other processes may, too."""
    target.mkdir(mode=0o700, parents=True, exist_ok=True)
    for pattern in ("*.nbc", "*.nbi"):
        for file in compiled.glob(pattern):
            place = target / file.name
            if not place.exists() and _is_whole(file):
                part = target / f"{file.name}.{os.getpid()}"
                part.write_bytes(file.read_bytes())
                part.replace(place)


def _delete_damaged(folder: Path) -> None:
    for file in folder.rglob("*.nb[ci]"):
        with suppress(OSError):  # another process deletes it, too, or it is not ours
            if not _is_whole(file):
                file.unlink()


def _is_whole(file: Path) -> bool:
    """Return True if a file of numba begins and ends as a pickle does."""
    content = file.read_bytes()
    return content.startswith(pickle.PROTO) and content.endswith(pickle.STOP)


def _is_writable(place: Path) -> bool:
    return place.is_dir() and os.access(place, os.W_OK)
