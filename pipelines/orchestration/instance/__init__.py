"""The configuration of Dagster's instance: `dagster.yaml`, `workspace.yaml`.

They are here, so that an installed package has them; links in the root of the repository serve
Dagster's own commands.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipelines.settings import Settings
    from warehouse.home.folder import Home

INSTANCE_FOLDER = Path(__file__).parent
"""The value of DAGSTER_HOME; nothing is written to it."""


def write_instance_config(settings: "Settings", home: "Home") -> Path:
    """Return the folder that all programs of this world have as DAGSTER_HOME."""
    del settings  # its files are found by the environment
    os.environ["SAMETRACK_DAGSTER_DIR"] = str(home.dagster_dir)
    return INSTANCE_FOLDER
