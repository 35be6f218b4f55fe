"""Atomic writing of files and folders: to a temporary path next to the target, then renamed."""

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from warehouse.records.errors import InvalidParameterError


def write_atomically(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file; the old one stays until the new one is complete.

    Raises:
        InvalidParameterError: The file cannot be written there.
    """
    with atomic_path(path) as draft, draft.open("wb") as stream:
        for part in parts:
            stream.write(part)


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path next to `path`; it is renamed to `path` at the end.

    After an error of the block `path` is as it was.

    Raises:
        InvalidParameterError: The file cannot be written there.
    """
    draft = path.with_name(f".{uuid4().hex}.{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield draft
        draft.replace(path)
    except OSError as error:
        raise InvalidParameterError(
            f"{path.name} cannot be written: {error.strerror or type(error).__name__}",
            hint="choose another path with --out",
        ) from error
    finally:
        # DuckDB leaves a write-ahead log next to a database that it could not close.
        for leftover in (draft, draft.with_name(f"{draft.name}.wal")):
            if leftover.is_dir():
                shutil.rmtree(leftover, ignore_errors=True)
            else:
                with suppress(OSError):  # in a folder without write access there is no file
                    leftover.unlink()
