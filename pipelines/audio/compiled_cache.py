"""Loops that numba compiles, and where it keeps them: beside the source, or in a user's folder.

Compiling takes some 28 s of processor time, and every process needs it. In an image with a
read-only root the folder beside the source has all of it, but numba refuses a folder that it cannot
write to: so it is copied to one that it accepts. A damaged file would end every process that
compares sounds, so it is deleted and compiled again.
"""

import os
import pickle
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import cast

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


UNUSED = ("scipy", "scipy.linalg", "yaml")
"""What numba looks for and no loop of this project uses: linear algebra and a file of settings. To
load them takes longer than to load all loops."""


def load_numba(source: Path) -> None:
    """Choose the cache for the loops of `source`, and load numba without what no loop here uses.

    Left out are `UNUSED`, which other code can still import, and extensions by other packages:
    looking for those reads the metadata of every package.
    """
    choose_cache(source)  # numba reads it from the environment when it is imported
    with hidden_modules(*UNUSED):
        import numba.np.arraymath  # noqa: F401, PLC0415 -- what most loops refer to
    from numba.core import entrypoints  # noqa: PLC0415

    entrypoints._already_initialized = True  # noqa: SLF001 -- it has no setting


def compiled_loop[**P, T](*, fastmath: bool = False) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Compile a function with numba at its first call, and keep the machine code on disk.

    A loop that is on disk is loaded without numba's implementations of NumPy and Python, some 50
    modules that only compiling needs. With numba's own `cache=True` they are loaded regardless.

    Args:
        fastmath: Allow sums in another order, for finite numbers.
    """
    import numba  # noqa: PLC0415 -- after `load_numba`

    def decorated(function: Callable[P, T]) -> Callable[P, T]:
        loop = numba.njit(error_model="numpy", fastmath=fastmath)(function)
        loop._cache = _loop_cache()(function)  # type: ignore[attr-defined] # noqa: SLF001 -- as `cache=True` does
        return cast("Callable[P, T]", loop)

    return decorated


@cache
def _loop_cache() -> type:
    """Return numba's cache of a function, which here looks on disk before it loads a compiler."""
    from numba.core.caching import FunctionCache  # noqa: PLC0415
    from numba.core.runtime import rtsys  # type: ignore[attr-defined] # noqa: PLC0415

    class LoopCache(FunctionCache):
        def load_overload(self, sig: object, target_context: object) -> object:
            rtsys.initialize(target_context)
            with self._guard_against_spurious_io_errors():
                return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]

    return LoopCache


def _home_folder() -> Path | None:
    try:
        home = Path.home()
    except RuntimeError:  # a user without an entry in the system's list
        return None
    caches = home / ".cache"
    return caches / "numba" if _is_writable(caches if caches.exists() else home) else None


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
