"""How JupyterLab is started: its command line, its folder, whether a browser can show it.

Its settings are in `jupyter_lab_config.json`: bound to loopback, with its token, and silent: no
news, no look for updates, no list of extensions.
"""

import os
import shutil
import sys
from pathlib import Path

NOTEBOOKS = Path(__file__).parents[4] / "notebooks"
FIRST = "explore/first_steps.ipynb"
_CONFIG = Path(__file__).with_name("jupyter_lab_config.json")


def lab_command(folder: Path, *, port: int, is_shown: bool) -> list[str]:
    """Return the command line of JupyterLab for a folder of notebooks."""
    return [
        sys.executable, "-m", "jupyterlab", f"--config={_CONFIG}",
        f"--ServerApp.root_dir={folder}", f"--ServerApp.port={port}",
        f"--ServerApp.open_browser={is_shown}", f"--LabApp.default_url=/lab/tree/{FIRST}",
    ]  # fmt: skip


def find_notebooks(workplace: Path) -> Path:
    """Return the notebooks of the checkout; for an installed Sametrack, the user's copy of them.

    The copy is `notebooks/` of the working directory; files that are there already stay.
    """
    if (NOTEBOOKS.parent / "pyproject.toml").is_file():
        return NOTEBOOKS
    copy = workplace / "notebooks"
    for path in sorted(NOTEBOOKS.rglob("*.ipynb")):
        target = copy / path.relative_to(NOTEBOOKS)
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    return copy


def may_open_browser() -> bool:
    """Return False on a machine without a display, where a browser would fill the terminal."""
    is_linux = sys.platform.startswith("linux")
    return not is_linux or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
