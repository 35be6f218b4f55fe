"""The wheel, and an environment that holds it with the libraries of a default installation alone.

Nothing is downloaded: the libraries are links to those of the environment that runs the tests, and
only to those that the wheel needs without extras. What this does not show is that an installer
finds these versions; `make wheel-demo` does.
"""

import ensurepip
import os
import shutil
import subprocess
import sys
import venv
from collections import defaultdict
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name

from api.generate.client import main as generate_client

ROOT = Path(__file__).parents[3]
PARTS = (
    "api",
    "notebooks",
    "pipelines",
    "sandbox",
    "warehouse",
    "pyproject.toml",
    "README.md",
    "LICENSE",
)
BUILD = "import sys, uv_build; print(uv_build.build_wheel(sys.argv[1]))"
PROJECT = canonicalize_name("sametrack")


def tracked() -> list[str]:
    """Return the files of the repository that a wheel is made of."""
    said = subprocess.run(
        ["git", "ls-files", *PARTS], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return said.stdout.splitlines()


def build_wheel(copy: Path, target: Path, *, age_s: float = 0) -> Path:
    """Build the wheel of a copy in which somebody has scanned; its files are `age_s` older."""
    for path in tracked():
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, copy / path)
        changed_at = (copy / path).stat().st_mtime - age_s
        os.utime(copy / path, (changed_at, changed_at))
    collected = copy / "warehouse" / "data" / "sandbox" / "world.json"
    collected.parent.mkdir(parents=True)
    collected.write_text("{}")
    generate_client(copy / "api" / "client")  # git has only what is written by hand
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # of the builder
    subprocess.run(
        [sys.executable, "-c", BUILD, str(target)],
        cwd=copy,
        env={**os.environ, "PATH": path},
        check=True,
    )
    return next(target.glob("*.whl"))


def install_wheel(wheel: Path, folder: Path) -> Path:
    """Install a wheel and what it needs into a new environment; return its `bin`.

    The installer is the one that Python brings along, run from where it is. What this machine has
    compiled for the clone is copied: compiling it again takes half a minute.
    """
    venv.create(folder, symlinks=True)
    programs = folder / "bin"
    bundled = next(Path(ensurepip.__file__).parent.glob("_bundled/pip-*.whl"))
    subprocess.run(
        [
            *(programs / "python", bundled / "pip", "install", "--quiet", "--no-index"),
            *("--no-deps", "--no-compile", "--disable-pip-version-check", wheel),
        ],
        check=True,
    )
    site = next((folder / "lib").glob("python*/site-packages"))
    metadata = next(site.glob("sametrack-*.dist-info"))
    _link_libraries(Distribution.at(metadata), site)
    _copy_compiled_loops(site)
    return programs


def _copy_compiled_loops(site: Path) -> None:
    """Copy what is compiled beside a source, and the time by which it is told to be of it."""
    for index in ROOT.glob("pipelines/audio/*/__pycache__/*.nbi"):
        source = index.parents[1] / f"{index.name.partition('.')[0]}.py"
        installed = site / source.relative_to(ROOT)
        if installed.read_bytes() != source.read_bytes():
            continue
        target = installed.parent / "__pycache__"
        target.mkdir(exist_ok=True)
        for file in index.parent.glob(f"{index.stem}.*"):
            shutil.copy2(file, target)
        os.utime(installed, ns=(source.stat().st_atime_ns, source.stat().st_mtime_ns))


def _link_libraries(project: Distribution, site: Path) -> None:
    """Link each top folder whole if all that is in it is needed, and file by file otherwise."""
    known = {canonicalize_name(one.name): one for one in distributions()}
    needed = _needed(project, known)
    owners: dict[str, set[NormalizedName]] = defaultdict(set)
    for name, one in known.items():
        for file in one.files or ():
            owners[file.parts[0]].add(name)
    for name in needed:
        for file in known[name].files or ():
            if file.parts[0] == ".." or (site / file.parts[0]).is_symlink():
                continue
            is_whole = owners[file.parts[0]] <= needed
            place = file.parts[0] if is_whole else str(file)
            target = site / place
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists():
                target.symlink_to(Path(str(known[name].locate_file(place))).resolve())


def _needed(
    project: Distribution, known: dict[NormalizedName, Distribution]
) -> set[NormalizedName]:
    """Return the names of everything that a default installation brings."""
    found: set[tuple[NormalizedName, str]] = set()
    waiting = [(project, "")]
    while waiting:
        one, extra = waiting.pop()
        for text in one.requires or ():
            requirement = Requirement(text)
            if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
                continue
            name = canonicalize_name(requirement.name)
            for wanted in ("", *requirement.extras):
                if (name, wanted) not in found:
                    found.add((name, wanted))
                    waiting.append((known[name], wanted))
    return {name for name, _ in found} - {PROJECT}
