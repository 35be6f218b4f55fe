"""The settings that say where the warehouse of an analyst is, and the folder they count from."""

import os
from pathlib import Path

from pydantic_settings import BaseSettings, SettingsConfigDict

from warehouse.lake.store import is_remote
from warehouse.records.worlds import OWN_WORLDS

_CHECKOUT = Path(__file__).parents[2]
_DATA_HOME = Path("warehouse/data")


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
    """Return the folder that relative settings count from: a notebook may be anywhere in it.

    That is the nearest folder upwards with `warehouse/data`, or the checkout of this code; `start`
    itself if it has an `.env`, or if DATA_HOME says where the data is.
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
    found = AddressSettings(_env_file=workspace / ".env")
    data_home = (workspace / found.data_home.expanduser()).resolve()
    lake_url = found.lake_url
    if lake_url and not is_remote(lake_url):
        lake_url = str((workspace / Path(lake_url).expanduser()).resolve())
    return found.model_copy(update={"data_home": data_home, "lake_url": lake_url})
