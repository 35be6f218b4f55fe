"""`sametrack dagster-home`: the instance of a world, for Dagster's own commands."""

from api.cli.terminal import out
from pipelines.open_stores import open_chosen_home
from pipelines.orchestration.runs.open_instance import open_instance
from pipelines.platform.providers import choose_stored_world
from pipelines.settings import Settings


def dagster_home() -> None:
    """Write Dagster's configuration for the chosen world, create its storage, print its folder.

    `DAGSTER_HOME=$(sametrack dagster-home) dagster dev` shows the runs of that world.
    """
    home = open_chosen_home(choose_stored_world(Settings()))
    with open_instance(home) as instance:
        instance.get_runs_count()
        instance.all_asset_keys()
    out.print(str(home.dagster_dir), soft_wrap=True, markup=False, highlight=False)
