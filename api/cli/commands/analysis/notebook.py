"""`sametrack notebook`: open the notebooks in JupyterLab, on data that is there.

JupyterLab's settings are in `jupyter_lab_config.json`: bound to loopback, with its token, and
silent: no news, no look for updates, no list of extensions.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from api.cli.processes.child_processes import sametrack_command
from api.cli.processes.demo_environment import WORLD, has_tables
from api.cli.terminal import EXIT_INTERRUPTED, print_message, safe
from warehouse.analysis.address import read_address_settings
from warehouse.extras import need_extra
from warehouse.home import find_homes
from warehouse.records.errors import ProfileNotChosenError

PORT = 8888
CHECKPOINTS = ".ipynb_checkpoints"
"""Folder of what JupyterLab saves beside the notebooks."""
NOTEBOOKS = Path(__file__).parents[4] / "notebooks"
FIRST = "explore/first_steps.ipynb"
_CONFIG = Path(__file__).with_name("jupyter_lab_config.json")

_NoBrowser = Annotated[
    bool, typer.Option("--no-browser", help="Print the address alone. Automatic without a display.")
]
_Port = Annotated[int, typer.Option(min=1, max=65535, help="Port, or the next free one.")]
_Seed = Annotated[int, typer.Option(help="Seed of the demo, if there is no data yet.")]
_Size = Annotated[
    float, typer.Option(min=0.05, max=40, help="Size of the demo; 1 is 5,000 videos.")
]


def notebook(
    *,
    no_browser: _NoBrowser = False,
    port: _Port = PORT,
    seed: _Seed = 7,
    size: _Size = 0.3,
) -> None:
    """Open the notebooks in JupyterLab, on loopback, with the data of the settings.

    Without a profile that is the only one with data; if there is none, a demo collects some first.
    """
    need_extra("analysis", "JupyterLab")
    environment = _choose_data()
    data_home = Path(environment["DATA_HOME"])
    if environment["PROFILE"] == WORLD and not has_tables(data_home):
        _collect_demo_data(data_home, seed=seed, size=size)
    folder = find_notebooks(Path.cwd())
    print_message(f"notebooks of {safe(folder)}; Ctrl-C ends JupyterLab and its kernels")
    command = lab_command(folder, port=port, is_shown=not no_browser and may_open_browser())
    # JupyterLab replaces this process, so that Ctrl-C and the exit status are its own.
    os.execve(command[0], command, {**os.environ, **environment})  # noqa: S606 -- our own command


def lab_command(folder: Path, *, port: int, is_shown: bool) -> list[str]:
    """Return the command line of JupyterLab for a folder of notebooks."""
    return [
        *(sys.executable, "-m", "jupyterlab", f"--config={_CONFIG}"),
        f"--ServerApp.root_dir={folder}",
        f"--ServerApp.port={port}",
        f"--ServerApp.open_browser={is_shown}",
        f"--LabApp.default_url=/lab/tree/{FIRST}",
    ]


def find_notebooks(workplace: Path) -> Path:
    """Return the notebooks of the checkout; for an installed Sametrack, the user's copy of them.

    The copy is `notebooks/` of the working directory; files that are there already stay.
    """
    if (NOTEBOOKS.parent / "pyproject.toml").is_file():
        return NOTEBOOKS
    # An installed package may be read-only, and an upgrade would replace what users changed.
    copy = workplace / "notebooks"
    for path in sorted(NOTEBOOKS.rglob("*.ipynb")):
        if path.parent.name == CHECKPOINTS:
            continue
        target = copy / path.relative_to(NOTEBOOKS)
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    return copy


def may_open_browser() -> bool:
    """Return False on a machine without a display, where a browser would fill the terminal."""
    is_linux = sys.platform.startswith("linux")
    return not is_linux or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _choose_data() -> dict[str, str]:
    """Return the settings of the kernels, which start in other folders."""
    address = read_address_settings()
    worlds = list(find_homes(address.data_home).values())
    if not address.names_a_world and len(worlds) > 1:
        raise ProfileNotChosenError(
            f"{str(address.data_home)!r} has the data of several profiles: {', '.join(worlds)}",
            hint=f"set one, for example PROFILE={worlds[0]}",
        )
    # Without a setting: the only world that is stored, else the demo's.
    profile = address.profile if address.names_a_world else (*worlds, WORLD)[0]
    return {"PROFILE": profile, "DATA_HOME": str(address.data_home)}


def _collect_demo_data(data_home: Path, *, seed: int, size: float) -> None:
    """Run the demo, which shows its progress and keeps its tables.

    Raises:
        typer.Exit: It was stopped, or has no result.
    """
    print_message("there is no data of the sandbox yet: a demo collects it once")
    home = data_home / WORLD
    demo = sametrack_command(
        *("demo", "--seed", str(seed), "--size", f"{size:g}", "--keep", str(data_home)),
        *("--out", str(home / "reports"), "--cache", str(home / "cache" / "sounds")),
    )
    try:
        code = subprocess.run(demo, check=False).returncode  # noqa: S603 -- our own command
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    # A demo that missed its goals has kept its tables all the same.
    if not has_tables(data_home):
        raise typer.Exit(code or 1)
