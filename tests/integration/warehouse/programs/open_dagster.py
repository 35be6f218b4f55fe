"""Open Dagster's instance as the settings say, and print how many runs there are."""

from pipelines.open_stores import open_chosen_home
from pipelines.orchestration.open_instance import open_instance
from pipelines.settings import Settings

with open_instance(open_chosen_home(Settings())) as instance:
    print(instance.get_runs_count())
