"""Where the warehouse of an analyst is: a home, a lake, or what the settings say.

Not here: the settings (`address_settings.py`).
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from warehouse.analysis.address_settings import AddressSettings, read_address_settings
from warehouse.home.folder import find_homes, read_home_world
from warehouse.lake.store import is_remote
from warehouse.records.errors import InvalidParameterError
from warehouse.records.worlds import OWN_WORLDS

_FIRST_STEPS = "run `sametrack demo` or scan a track; or name a folder: open_warehouse('FOLDER')"


@dataclass(frozen=True, slots=True)
class WarehouseAddress:
    """A lake and its world; without `world` the lake's tables tell it."""

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
    is_lake = any(folder.glob("*/*/_delta_log"))
    return WarehouseAddress(str(folder)) if is_lake else _home_of(folder)


def _by_settings(settings: AddressSettings) -> WarehouseAddress:
    world = _world_of(settings)
    if settings.lake_url:
        return WarehouseAddress(settings.lake_url, world)
    home = settings.data_home if world is None else settings.data_home / world
    if not home.is_dir():
        raise InvalidParameterError(
            f"nothing was collected yet in {str(home)!r}", hint=_FIRST_STEPS
        )
    return _home_of(home)


def _world_of(settings: AddressSettings) -> str | None:
    """Return the world of the settings: the provider's, or the name in the profile's own file."""
    if settings.data_provider in OWN_WORLDS:
        return settings.data_provider
    profile = Path(settings.profile)
    if profile.suffix != ".toml":
        return settings.profile or None
    try:
        return str(tomllib.loads(profile.read_text(encoding="utf-8"))["name"])
    except (OSError, ValueError, KeyError) as error:
        raise InvalidParameterError(f"the profile {profile.name!r} cannot be read") from error


def _home_of(folder: Path) -> WarehouseAddress:
    """Return the lake of a home, or of the only home below the folder."""
    own = read_home_world(folder)
    found = find_homes(folder) if own is None else {folder: own}
    if len(found) != 1:
        names = ", ".join(path.name for path in found)
        problem = f"has several worlds: {names}" if found else "has no world"
        hint = "name one, or set PROFILE" if found else _FIRST_STEPS
        raise InvalidParameterError(f"the folder {str(folder)!r} {problem}", hint=hint)
    home, world = next(iter(found.items()))
    return WarehouseAddress(str(home / "lake"), world)
