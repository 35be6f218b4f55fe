"""The chart service as a Dagster resource; it opens the stores only while they are used."""

from collections.abc import Iterator
from contextlib import contextmanager

from pipelines.charts.open_service import ChartService, open_chart_service
from pipelines.settings import Settings


class ChartResource:
    """Opens the chart service."""

    @contextmanager
    def open(self) -> Iterator[ChartService]:
        """Open the chart service of the configured world.

        Raises:
            ProfileNotChosenError: No platform profile is selected.
            WarehouseError: A store cannot be opened.
        """
        with open_chart_service(Settings()) as chart_service:
            yield chart_service
