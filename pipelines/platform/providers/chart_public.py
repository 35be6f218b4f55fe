"""Provider `chart-public`: issues of the public music chart, and the songs of one.

Which form of an issue (JSON or HTML page) is read is in `sources/chart_table.py`.
"""

from pipelines.platform.http.client import GuestClient
from pipelines.platform.providers.dependencies import ProviderDependencies
from pipelines.platform.reading import Reading
from pipelines.platform.sources.chart_table import (
    CHART_ISSUES,
    CHART_LATEST,
    CHART_SONGS,
    LATEST,
    ChartReader,
)
from pipelines.platform.sources.planner import Planner, SickPolicy
from pipelines.platform.sources.table import SourceRequest
from warehouse.records.charts import ChartIndex, ChartPage


def build(_name: str, dependencies: ProviderDependencies) -> "ChartPublic":
    """Build the chart of the platform profile."""
    return ChartPublic(dependencies.guest())


class ChartPublic:
    """The chart of the profile. Owns its client.

    Raises (all methods):
        ChartUnavailableError: The chart answered without a chart in every form tried.
        SubstitutionError: The response is another issue.
        UpstreamError: The chart's hosts refuse or cannot be reached.
    """

    def __init__(self, client: GuestClient, *, name: str = "chart-public") -> None:
        self.name = name
        self._client = client
        self._reader = ChartReader(client)
        # Issues may be missing one by one, and none is asked for unless somebody wants it.
        self._planner = Planner(self._reader, sick_policy=SickPolicy.ALWAYS)
        self._latest: str | None = None

    async def fetch_issues(self) -> Reading[ChartIndex]:
        """Fetch all issues that the chart lists. Their dates are checked against songs later."""
        rank_id = self._client.profile.chart.rank_id
        found = await self._planner.ask(CHART_ISSUES, SourceRequest(entity_id=rank_id))
        issues = found.value.issues
        self._reader.dates = {one.volid: one.chart_date for one in issues if one.chart_date}
        self._latest = found.value.latest_volid
        return found

    async def fetch_songs(self, volid: str | None, page: int) -> Reading[ChartPage]:
        """Fetch one page (from 1) of the songs of an issue; None means the latest issue."""
        is_latest = volid is None or volid == self._latest
        request = SourceRequest(entity_id=volid or LATEST, cursor=page)
        return await self._planner.ask(CHART_LATEST if is_latest else CHART_SONGS, request)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._client.aclose()
