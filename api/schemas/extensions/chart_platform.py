"""Schemas for chart songs compared with the platform, and for manual links."""

from typing import Annotated

from pydantic import Field

from api.schemas.chart import Day
from api.schemas.extensions.exports import TrackGrowth
from pipelines.charts.rules import platform_comparison
from pipelines.documents.fields import ClosedDocument, Count, OptionalCount, Timestamp
from warehouse.records.charts import SongLinkChoice
from warehouse.records.jobs import Origin

MusicId = Annotated[str, Field(examples=["7348759830572834348"])]
_REASON = (
    "deciding rule: `title_and_artist`, `title_and_one_artist`, `title_without_addition` (titles "
    "match without text in brackets), `title_only` (no artist to compare), `artist_differs`, "
    "`confirmed_recording` and `confirmed_variant` (matched by audio, through `via_music_id`), "
    "`manual_same`, `manual_different`"
)
_LEAD_REASON = (
    "reason for a missing estimate: `no_observations`, `no_likes`, `too_few_observations`, "
    "`entry_not_seen`, `publication_unknown`, `bounds_too_wide`; null: an estimate exists"
)


class ChartPosition(ClosedDocument):
    """Rank of the song in one issue."""

    chart_date: Day
    volid: str
    rank: Annotated[int, Field(ge=1, le=20)]


class SongOnChart(ClosedDocument):
    """Chart run of the song in the stored issues; other issues are unknown."""

    issue_count: Count
    best_rank: Annotated[int, Field(ge=1, le=20)]
    first_chart_date: Annotated[Day, Field(description="first appearance in the top 20")]
    last_chart_date: Day
    entry_after_date: Annotated[
        Day | None, Field(description="issue before the first appearance; null: not stored")
    ]
    kept_issue_count: Annotated[int, Field(ge=0, description="number of stored issues")]
    kept_from: Day
    kept_to: Day
    positions: list[ChartPosition]


class SongLink(ClosedDocument):
    """Relation between the song and a music id, with the reason."""

    music_id: MusicId
    via_music_id: Annotated[
        str | None, Field(description="music id through which the relation was inferred")
    ]
    relation: Annotated[
        platform_comparison.Relation, Field(description="`same`, `possible` or `different`")
    ]
    confidence: Annotated[
        platform_comparison.Confidence, Field(description="a category, not a probability")
    ]
    reason: Annotated[platform_comparison.Reason, Field(description=_REASON)]
    music_title: str | None
    music_author: str | None
    judged_at: Annotated[
        Timestamp | None,
        Field(description="when the link was stored; null: since the last judging"),
    ]
    newest_job_id: Annotated[
        str | None, Field(description="job of the newest scan of the music id; null: not scanned")
    ]


class LinkDecision(ClosedDocument):
    """A manual decision about a song and a music id; the newest one of a pair applies."""

    link_id: str
    song_key: str
    music_id: MusicId
    said: Annotated[
        SongLinkChoice,
        Field(description="`same`, `different`, or `withdrawn`: the automatic rules apply again"),
    ]
    said_by: str | None
    note: str | None
    origin: Origin
    said_at: Timestamp


class CurvePoint(ClosedDocument):
    """Totals of all videos seen so far; they also rise when new videos are found."""

    observed_at: Timestamp
    work_count: Count
    digg_count: OptionalCount
    comment_count: OptionalCount
    collect_count: OptionalCount
    share_count: OptionalCount
    growth: TrackGrowth


class SongOnPlatform(ClosedDocument):
    """Confirmed videos of every music id whose relation is `same`, over time."""

    music_ids: list[MusicId]
    points: list[CurvePoint]


class SongLead(ClosedDocument):
    """Estimated days between the rise on the platform and the chart entry, with its basis."""

    lead_days: Annotated[
        float | None,
        Field(description="positive: the platform was first; negative: the chart was first"),
    ]
    low_days: Annotated[float | None, Field(description="lower bound of `lead_days`")]
    high_days: Annotated[float | None, Field(description="upper bound of `lead_days`")]
    direction: Annotated[
        platform_comparison.Direction | None,
        Field(description="which came first, if the bounds allow a decision"),
    ]
    reason: Annotated[platform_comparison.LeadReason | None, Field(description=_LEAD_REASON)]
    is_estimate: bool
    work_count: Count
    observation_count: Count
    observed_day_count: Annotated[int, Field(ge=0, description="days with observations")]
    rise_after: Annotated[
        Timestamp | None, Field(description="earliest time at which half of the likes were reached")
    ]
    rise_before: Annotated[
        Timestamp | None, Field(description="latest time at which half of the likes were reached")
    ]
    method: Annotated[str, Field(examples=["half-of-likes-1"])]


class ChartSongComparison(ClosedDocument):
    """A chart song compared with the platform."""

    song_key: str
    title: str
    artist: str | None
    chart: SongOnChart
    links: list[SongLink]
    said: Annotated[list[LinkDecision], Field(description="manual decisions, oldest first")]
    platform: SongOnPlatform
    lead: SongLead
    is_demo_data: bool


class ChartTrack(ClosedDocument):
    """A scanned track that is, or may be, a song of the chart."""

    song_key: str
    music_id: MusicId
    relation: Annotated[platform_comparison.Relation, Field(description="`same` or `possible`")]
    confidence: Annotated[
        platform_comparison.Confidence, Field(description="a category, not a probability")
    ]
    reason: Annotated[platform_comparison.Reason, Field(description=_REASON)]
    title: str | None
    artist: str | None
    newest_job_id: Annotated[str, Field(description="job of the newest scan")]
    last_result_at: Timestamp


class ChartTrackList(ClosedDocument):
    """Scanned tracks of the stored chart songs; of each song the surest first."""

    tracks: list[ChartTrack]
    returned_count: Count
    is_demo_data: bool


class LinkDecisionList(ClosedDocument):
    """Manual decisions about songs and music ids, oldest first."""

    links: list[LinkDecision]
    returned_count: Count
    is_demo_data: bool


class SongLinkUpdate(ClosedDocument):
    """What judging the links of all stored chart songs again found and changed."""

    song_count: Count
    issue_count: Count
    lead_count: Annotated[int, Field(ge=0, description="links with an estimated lead or lag")]
    row_count: Annotated[int, Field(ge=0, description="links that are new, changed or ended")]
    relations: Annotated[
        dict[platform_comparison.Relation, int],
        Field(description="current links by their `relation`"),
    ]
    is_demo_data: bool
