"""Chart of the provider `mock`: issues and songs of a sandbox world. Nothing is contacted."""

from datetime import UTC, datetime
from functools import cache

from pipelines.platform.providers.provider import ProviderDependencies, local_reading
from pipelines.platform.sources.table import Reading
from sandbox.mock.provider import PARSER_VERSION, open_world
from sandbox.world.chart import SONGS, ChartedSong, SandboxChart, SandboxIssue
from sandbox.world.world import SandboxWorld
from warehouse.records.charts import ChartIndex, ChartIssue, ChartPage, ChartSong
from warehouse.records.errors import ChartUnavailableError

PAGE_SIZE = 100


def build(name: str, dependencies: ProviderDependencies) -> "MockChart":
    """Build the chart of the configured world."""
    settings = dependencies.settings
    return MockChart(_chart(open_world(settings.mock_seed, settings.mock_size)), name=name)


@cache
def _chart(world: SandboxWorld) -> SandboxChart:
    """Generate the chart, once per process like its world."""
    return SandboxChart(world)


class MockChart:
    """The sandbox chart as a source.

    Args:
        chart: The chart.
        name: Name of this source in rows.
    """

    def __init__(self, chart: SandboxChart, *, name: str) -> None:
        self.name = name
        self._chart = chart

    async def fetch_issues(self) -> Reading[ChartIndex]:
        """Return all issues up to the world's current time, newest first."""
        latest = self._chart.latest(self._chart.world.now)
        issues = [self._chart.calendar.at(place) for place in range(latest.place, -1, -1)]
        index = ChartIndex(issues=tuple(map(_to_issue, issues)), latest_volid=str(latest.volid))
        return local_reading("mock:chart_issues", "all", index, parser_version=PARSER_VERSION)

    async def fetch_songs(self, volid: str | None, page: int) -> Reading[ChartPage]:
        """Return a page of a hundred songs of an issue."""
        latest = self._chart.latest(self._chart.world.now)
        issue = latest if volid is None else self._chart.calendar.find(volid)
        if issue is None or issue.place > latest.place or page < 1:
            raise ChartUnavailableError(
                f"the demo chart has no issue {volid} with a page {page}",
                surface="chart_songs",
                reason="no_such_chart",
            )
        songs = self._chart.songs(issue.place)[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
        found = ChartPage(
            songs=tuple(map(_to_song, songs)),
            surface="chart_songs",
            observed_at=datetime.now(UTC),
            page=page,
            volid=str(issue.volid),
            chart_date=issue.day,
            total=SONGS,
        )
        return local_reading(
            "mock:chart_songs", str(issue.volid), found, parser_version=PARSER_VERSION
        )

    async def aclose(self) -> None:
        """Do nothing: nothing is open."""


def _to_issue(issue: SandboxIssue) -> ChartIssue:
    return ChartIssue(
        volid=str(issue.volid),
        surface="chart_issues",
        observed_at=datetime.now(UTC),
        name=issue.name,
        chart_date=None if issue.date_form == "none" else issue.day,
    )


def _to_song(song: ChartedSong) -> ChartSong:
    return ChartSong(
        rank=song.rank,
        title=song.title,
        artist="、".join(song.artists),
        duration_s=song.duration_s,
        previous_rank=song.previous_rank or None,
        sort=song.rank,
        song_hash=song.song_hash,
        album_audio_id=str(song.number),
        rank_count=song.issue_count,
        is_first=song.issue_count == 1,
    )
