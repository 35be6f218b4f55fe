"""Open the orchestrator's storage of a home; print how many runs and assets it has.

Usage: open_storage.py DATA_HOME
"""

import sys
from pathlib import Path

from pipelines.orchestration.runs.open_instance import open_instance
from warehouse.home import open_home

with open_instance(open_home(Path(sys.argv[1]), "sandbox")) as instance:
    print(instance.get_runs_count(), len(instance.all_asset_keys()))
