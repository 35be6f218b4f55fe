"""What the processes that share the tests of one run make once for all of them."""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class SharedFolder:
    """Files that whichever process needs them first makes for all of them."""

    path: Path

    def file(self, name: str, make: Callable[[Path], object]) -> Path:
        """The file of this name. `make` writes it, unless another process has done so.

        Two processes may make one at the same time: the first one's stays, and is shown whole.
        """
        place = self.path / name
        if not place.exists():
            draft = self.path / f"{os.getpid()}-{name}"
            make(draft)
            with suppress(FileExistsError):
                place.hardlink_to(draft)
            draft.unlink()
        return place
