"""Files and folders that appear whole or not at all: a draft beside them, then a rename."""

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from warehouse.records.errors import InvalidParameterError


def write_whole(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file; what stood there stays until the new one is complete.

    Raises:
        InvalidParameterError: It cannot be written there.
    """
    with drafting(path) as draft, draft.open("wb") as stream:
        for part in parts:
            stream.write(part)


@contextmanager
def drafting(path: Path, *, verify: Callable[[Path], None] | None = None) -> Iterator[Path]:
    """A path beside `path` to write to; it becomes `path` at the end, once `verify` agrees.

    Raises:
        InvalidParameterError: It cannot be written there.
    """
    draft = path.with_name(f".{uuid4().hex}.{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield draft
        if verify is not None:
            verify(draft)
        draft.replace(path)
    except OSError as error:
        raise InvalidParameterError(
            f"{path.name} cannot be written: {error.strerror or type(error).__name__}",
            hint="choose another file with --out",
        ) from error
    finally:
        _remove(draft)


def _remove(draft: Path) -> None:
    for left in (draft, draft.with_name(f"{draft.name}.wal")):
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)
