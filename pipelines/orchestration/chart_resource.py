"""The chart's desk as a resource of the orchestrator: opens the stores only while they are used."""

from collections.abc import Iterator
from contextlib import contextmanager

from pipelines.charts.open_service import ChartDesk, open_chart_desk
from pipelines.settings import Settings


class ChartResource:
    """Where the chart is read and judged."""

    @contextmanager
    def open(self) -> Iterator[ChartDesk]:
        """The desk of the world that the settings name.

        Raises:
            ProfileNotChosenError: No profile is chosen.
            WarehouseError: A store cannot be opened.
        """
        with open_chart_desk(Settings()) as desk:
            yield desk
