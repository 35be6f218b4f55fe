"""Open the orchestrator's storages as the settings say, and print how many runs there are."""

from dagster import DagsterInstance

from pipelines.orchestration.instance import INSTANCE_FOLDER

print(DagsterInstance.from_config(str(INSTANCE_FOLDER)).get_runs_count())
