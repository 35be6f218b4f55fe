"""Chart history: nodes with their issues and songs."""

from typing import Annotated

from pydantic import Field

from pipelines.documents.fields import ClosedDocument, Count, Timestamp

Day = Annotated[str, Field(description="YYYY-MM-DD", examples=["2026-01-31"])]


class ChartSongDocument(ClosedDocument):
    """One song of an issue. Unknown values are null; the oldest issues have few fields."""

    rank: Annotated[int, Field(ge=1, le=20)]
    title: str
    artist: str | None
    duration: Annotated[int | None, Field(description="seconds")]
    cover: Annotated[str | None, Field(description="URL of the cover image")]
    previous_rank: Annotated[
        int | None, Field(description="rank in the previous issue; null: new or unknown")
    ]
    rank_change: Annotated[
        int | None, Field(description="ranks gained since the previous issue; negative: lost")
    ]
    is_new: Annotated[
        bool | None, Field(description="first appearance on the chart; null: unknown")
    ]
    song_key: Annotated[str, Field(description="stable key of the song across issues")]


class ChartSnapshot(ClosedDocument):
    """One 10-day node with its issue: the newest one up to 10 days before the node."""

    target_date: Day
    chart_date: Annotated[Day | None, Field(description="date of the issue; null: no issue")]
    volid: Annotated[str | None, Field(description="id of the issue")]
    issue_name: str | None
    day_offset: Annotated[int | None, Field(description="days from the issue to the node")]
    reason: Annotated[
        str | None,
        Field(
            description=(
                "reason for missing songs: `no_issue_within_10_days`, `not_collected_yet`, "
                "`issue_incomplete`, or the type of the upstream error"
            )
        ),
    ]
    songs: list[ChartSongDocument]


class ChartHistoryDocument(ClosedDocument):
    """One issue per 10 days. Every song was checked against its issue."""

    snapshots: list[ChartSnapshot]
    start_date: Day
    end_date: Annotated[Day, Field(description="last day, limited to the latest issue")]
    requested_end_date: Day
    end_date_cut: Annotated[bool, Field(description="whether end_date was after the latest issue")]
    interval_days: int
    limit: int
    node_count: Count
    collected_count: Annotated[int, Field(ge=0, description="nodes with songs")]
    not_collected_count: Annotated[
        int, Field(ge=0, description="nodes still to be read in the background")
    ]
    latest_chart_date: Day
    next_issue_by: Annotated[
        Timestamp | None,
        Field(
            description="time by which today's issue is released, if the range reaches to today "
            "and the issue is not listed yet, or is listed with a later release; until then the "
            "latest one may lag: issues are dated 08:30 and released up to 10:00"
        ),
    ]
    issues_refreshed: Annotated[
        bool, Field(description="false: the list of issues could not be refreshed")
    ]
    data_provider: str
    is_demo_data: bool
