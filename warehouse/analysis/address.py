"""Where the warehouse of an analyst is: a home, a lake, or the place that the settings name.

Settings are read from the workspace: a notebook may be anywhere in it.
"""

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path

from pydantic_settings import BaseSettings, SettingsConfigDict

from warehouse.home import OWN_WORLDS, find_homes, read_home_world
from warehouse.lake.store import is_remote
from warehouse.records.errors import InvalidParameterError

_CHECKOUT = Path(__file__).parents[2]
_DATA_HOME = Path("warehouse/data")
_FIRST_STEPS = "run `sametrack demo` or scan a track; or name a folder: open_warehouse('FOLDER')"


class AddressSettings(BaseSettings):
    """The settings that place the stores; their meaning is in `pipelines/settings.py`."""

    model_config = SettingsConfigDict(env_file=".env", extra="ignore", frozen=True)

    profile: str = ""
    data_provider: str = ""
    data_home: Path = _DATA_HOME
    lake_url: str = ""

    @property
    def names_a_world(self) -> bool:
        """Whether profile or provider choose a world."""
        return bool(self.profile) or self.data_provider in OWN_WORLDS


def find_workspace(start: Path) -> Path:
    """Return the folder that relative settings count from.

    That is the nearest folder upwards with `warehouse/data`, or the checkout of this code; `start`
    itself if it has an `.env`, or if DATA_HOME is set.
    """
    if (start / ".env").is_file() or os.environ.get("DATA_HOME"):
        return start
    for folder in (start, *start.parents):
        is_checkout = folder == _CHECKOUT and (folder / "pyproject.toml").is_file()
        if is_checkout or (folder / _DATA_HOME).is_dir():
            return folder
    return start


def read_address_settings() -> AddressSettings:
    """Return the settings of the workspace; its folders are absolute."""
    workspace = find_workspace(Path.cwd())
    settings = AddressSettings(_env_file=workspace / ".env")
    data_home = (workspace / settings.data_home.expanduser()).resolve()
    lake_url = settings.lake_url
    if lake_url and not is_remote(lake_url):
        lake_url = str((workspace / Path(lake_url).expanduser()).resolve())
    return settings.model_copy(update={"data_home": data_home, "lake_url": lake_url})


@dataclass(frozen=True, slots=True)
class WarehouseAddress:
    """A lake and its world; if `world` is None, it is read from the lake's tables."""

    lake_url: str
    world: str | None = None


def find_address(address: str | Path | None) -> WarehouseAddress:
    """Return the lake that an analyst means.

    Args:
        address: The home of a world, a data home with one world, a lake, or an `s3://` address.
            None takes the settings `PROFILE`, `DATA_HOME` and `LAKE_URL`.

    Raises:
        InvalidParameterError: Nothing is there, or there are several worlds.
    """
    if address is None:
        return _by_settings(read_address_settings())
    if is_remote(str(address)):
        return WarehouseAddress(str(address))
    folder = Path(address).expanduser().resolve()
    if not folder.is_dir():
        raise InvalidParameterError(
            f"the folder {str(address)!r} does not exist", hint=_FIRST_STEPS
        )
    # A lake has folders `layer/table`; a home has the lake in its folder `lake`.
    is_lake = any(folder.glob("*/*/_delta_log"))
    return WarehouseAddress(str(folder)) if is_lake else _home_of(folder)


def _by_settings(settings: AddressSettings) -> WarehouseAddress:
    # The world is that of the provider, or the name in the profile's own file.
    profile = Path(settings.profile)
    world: str | None
    if settings.data_provider in OWN_WORLDS:
        world = settings.data_provider
    elif profile.suffix != ".toml":
        world = settings.profile or None
    else:
        try:
            world = str(tomllib.loads(profile.read_text(encoding="utf-8"))["name"])
        except (OSError, ValueError, KeyError) as error:
            raise InvalidParameterError(f"the profile {profile.name!r} cannot be read") from error
    if settings.lake_url:
        return WarehouseAddress(settings.lake_url, world)
    home = settings.data_home if world is None else settings.data_home / world
    if not home.is_dir():
        raise InvalidParameterError(
            f"nothing was collected yet in {str(home)!r}", hint=_FIRST_STEPS
        )
    return _home_of(home)


def _home_of(folder: Path) -> WarehouseAddress:
    """Return the lake of a home, or of the only home below the folder."""
    own = read_home_world(folder)
    homes = find_homes(folder) if own is None else {folder: own}
    if len(homes) != 1:
        names = ", ".join(path.name for path in homes)
        problem = f"has several worlds: {names}" if homes else "has no world"
        hint = "name one, or set PROFILE" if homes else _FIRST_STEPS
        raise InvalidParameterError(f"the folder {str(folder)!r} {problem}", hint=hint)
    home, world = next(iter(homes.items()))
    return WarehouseAddress(str(home / "lake"), world)
