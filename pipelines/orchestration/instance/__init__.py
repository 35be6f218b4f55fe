"""The configuration of Dagster's instance: `dagster.yaml`, `workspace.yaml`.

They are here, so that an installed package has them; links in the root of the repository serve
Dagster's own commands.
"""

from pathlib import Path

INSTANCE_FOLDER = Path(__file__).parent
"""The value of DAGSTER_HOME; nothing is written to it."""
