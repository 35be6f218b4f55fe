"""Checks what a browser needs before it can start: the extra with its driver, and Chromium.

Loads no driver, so every feature can check first.
"""

import shutil
from pathlib import Path

from warehouse.extras import need_extra
from warehouse.records.errors import ProviderUnsupportedError


def find_chromium(chosen: Path | None) -> Path:
    """Return the path of the operator's Chromium, or of Debian's.

    Raises:
        ProviderUnsupportedError: The extra `browser` or Chromium is not installed.
    """
    need_extra("browser", "reading or printing pages", error=ProviderUnsupportedError)
    executable = shutil.which(str(chosen) if chosen else "chromium")
    if executable is None:
        raise ProviderUnsupportedError(
            "no Chromium was found on this machine",
            hint="run `make setup-browser` (Debian, as root), or set CHROMIUM_PATH",
        )
    return Path(executable)
