"""The chart service as a Dagster resource; it opens the stores only while they are used."""

from collections.abc import Iterator
from contextlib import contextmanager

from pipelines.charts.open_service import ChartDesk, open_chart_desk
from pipelines.settings import Settings


class ChartResource:
    """Opens the chart service."""

    @contextmanager
    def open(self) -> Iterator[ChartDesk]:
        """Open the chart service of the configured world.

        Raises:
            ProfileNotChosenError: No platform profile is selected.
            WarehouseError: A store cannot be opened.
        """
        with open_chart_desk(Settings()) as desk:
            yield desk
