"""The history of the chart: nodes with their issues and songs."""

from typing import Annotated

from pydantic import Field

from api.schemas.shape import Count, Shape

Day = Annotated[str, Field(description="YYYY-MM-DD", examples=["2026-01-31"])]


class ChartSong(Shape):
    """One song of an issue. Unknown is null: the oldest issues say little."""

    rank: Annotated[int, Field(ge=1, le=20)]
    title: str
    artist: str | None
    duration: Annotated[int | None, Field(description="seconds")]
    cover: Annotated[str | None, Field(description="address of the cover")]
    previous_rank: Annotated[
        int | None, Field(description="place in the issue before; null: new, or not said")
    ]
    rank_change: Annotated[int | None, Field(description="positive: it has climbed")]
    is_new: Annotated[
        bool | None, Field(description="on the chart for the first time; null: not said")
    ]
    song_key: Annotated[str, Field(description="the same for the same song in every issue")]


class ChartSnapshot(Shape):
    """One node of ten days with its issue: the newest on or before it, at most 10 days older."""

    target_date: Day
    chart_date: Annotated[Day | None, Field(description="date of the issue; null: there is none")]
    volid: Annotated[str | None, Field(description="id of the issue")]
    issue_name: str | None
    day_offset: Annotated[int | None, Field(description="days that the issue is older")]
    reason: Annotated[
        str | None,
        Field(
            description=(
                "why songs are missing: `no_issue_within_10_days`, `not_collected_yet`, "
                "`issue_incomplete`, or the type of the upstream error"
            )
        ),
    ]
    songs: list[ChartSong]


class ChartHistory(Shape):
    """One issue per ten days. Every song was checked against its issue."""

    snapshots: list[ChartSnapshot]
    start_date: Day
    end_date: Annotated[Day, Field(description="as cut to the latest issue")]
    requested_end_date: Day
    end_date_cut: Annotated[bool, Field(description="end_date was beyond the latest issue")]
    interval_days: int
    limit: int
    node_count: Count
    collected_count: Annotated[int, Field(ge=0, description="nodes with songs")]
    not_collected_count: Annotated[int, Field(ge=0, description="nodes that follow later")]
    latest_chart_date: Day
    issues_refreshed: Annotated[
        bool, Field(description="false: the list of issues could not be read anew")
    ]
    data_provider: str
    is_demo_data: bool
