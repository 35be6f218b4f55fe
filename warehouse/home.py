"""The home of one world: which worlds there are, and the folder of one below `DATA_HOME`."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from warehouse.files import write_once
from warehouse.records import errors

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
