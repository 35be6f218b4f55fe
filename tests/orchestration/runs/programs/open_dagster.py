"""Open Dagster's instance as the settings say, in the home that is given; print its runs."""

import sys
from pathlib import Path

from pipelines.orchestration.runs.open_instance import open_instance
from warehouse.home import open_home

with open_instance(open_home(Path(sys.argv[1]), "sandbox")) as instance:
    print(instance.get_runs_count())
