"""Shapes of the answers about songs of the chart beside the platform, and of what people say."""

from typing import Annotated, Any

from pydantic import Field

from api.responses.errors import NOT_MODIFIED, OK
from api.schemas.answers import BAD_BODY, BAD_PARAMETERS, Answers, failures, headers
from api.schemas.chart import Day
from api.schemas.shape import Count, Envelope, MaybeCount, Moment, Shape
from pipelines.charts.rules.lead import Direction, LeadReason
from pipelines.charts.rules.song_links import Confidence, Reason, Relation
from warehouse.records.jobs import Origin
from warehouse.records.song_links import Said

MusicId = Annotated[str, Field(examples=["7300000000000000001"])]
_REASON = (
    "which rule: `title_and_artist`, `title_and_one_artist`, `title_without_addition` (the title "
    "agrees without what stands in brackets), `title_only` (no artist to compare), "
    "`artist_differs`, `confirmed_recording` and `confirmed_variant` (heard, through "
    "`via_music_id`), `manual_same`, `manual_different`"
)
_LEAD_REASON = (
    "why there is no estimate: `no_observations`, `no_likes`, `too_few_observations`, "
    "`entry_not_seen`, `publication_unknown`, `bounds_too_wide`; null: there is one"
)


class ChartPosition(Shape):
    """Where the song stood in an issue."""

    chart_date: Day
    volid: str
    rank: Annotated[int, Field(ge=1, le=20)]


class SongOnChart(Shape):
    """The song on the issues that are in the lake; nothing is known of others."""

    issue_count: Count
    best_rank: Annotated[int, Field(ge=1, le=20)]
    first_chart_date: Annotated[Day, Field(description="its entry into the first twenty")]
    last_chart_date: Day
    entry_after_date: Annotated[
        Day | None, Field(description="issue before the entry; null: the entry was not seen")
    ]
    kept_issue_count: Annotated[int, Field(ge=0, description="issues in the lake")]
    kept_from: Day
    kept_to: Day
    positions: list[ChartPosition]


class SongLink(Shape):
    """How the song and a music id relate, and why."""

    music_id: MusicId
    via_music_id: Annotated[str | None, Field(description="through which the relation follows")]
    relation: Annotated[Relation, Field(description="`same`, `possible` or `different`")]
    confidence: Annotated[Confidence, Field(description="a class, never a probability")]
    reason: Annotated[Reason, Field(description=_REASON)]
    music_title: str | None
    music_author: str | None
    judged_at: Moment


class SaidOfLink(Shape):
    """What a person said of a song and a music id; the newest of a pair holds."""

    link_id: str
    song_key: str
    music_id: MusicId
    said: Annotated[
        Said, Field(description="`same`, `different`, or `withdrawn`: the rules hold again")
    ]
    said_by: str | None
    note: str | None
    origin: Origin
    said_at: Moment


class CurvePoint(Shape):
    """Sum over all works seen until then; it grows when works are found, too."""

    observed_at: Moment
    work_count: Count
    digg_count: MaybeCount
    comment_count: MaybeCount
    collect_count: MaybeCount
    share_count: MaybeCount


class SongOnPlatform(Shape):
    """Confirmed works of every music id whose relation is `same`, over time."""

    music_ids: list[MusicId]
    points: list[CurvePoint]


class SongLead(Shape):
    """Days from the rise on the platform to the entry on the chart, with what stands behind it."""

    lead_days: Annotated[
        float | None, Field(description="positive: the platform came first; negative: a lag")
    ]
    low_days: Annotated[float | None, Field(description="least that it can have been")]
    high_days: Annotated[float | None, Field(description="most that it can have been")]
    direction: Annotated[
        Direction | None, Field(description="which came first, where the bounds tell")
    ]
    reason: Annotated[LeadReason | None, Field(description=_LEAD_REASON)]
    is_estimate: bool
    work_count: Count
    observation_count: Count
    observed_day_count: Annotated[int, Field(ge=0, description="days with an observation")]
    rise_after: Annotated[
        Moment | None, Field(description="half of the likes was reached no earlier")
    ]
    rise_before: Annotated[
        Moment | None, Field(description="half of the likes was reached no later")
    ]
    method: Annotated[str, Field(examples=["half-of-likes-1"])]


class ChartSongBeside(Shape):
    """A song of the chart beside the platform."""

    song_key: str
    title: str
    artist: str | None
    chart: SongOnChart
    links: list[SongLink]
    said: Annotated[list[SaidOfLink], Field(description="what people said, oldest first")]
    platform: SongOnPlatform
    lead: SongLead
    is_demo_data: bool


class SaidOfLinks(Shape):
    """What people said of songs and music ids, oldest first."""

    links: list[SaidOfLink]
    returned_count: Count
    is_demo_data: bool


_NO_STORE = ("profile_not_chosen", "warehouse_unavailable")
_UNCHANGED: dict[str, Any] = {
    "description": "`data` is what If-None-Match names",
    "headers": headers("ETag"),
}
_SONG = Envelope[ChartSongBeside]

CHART_SONG_ANSWERS: Answers = {
    OK: {"model": _SONG, "description": "The song", "headers": headers("ETag")},
    NOT_MODIFIED: _UNCHANGED,
    **failures("unknown_parameter", "not_found", *_NO_STORE),
}
CHART_LINKS_ANSWERS: Answers = {
    OK: {
        "model": Envelope[SaidOfLinks],
        "description": "What people said",
        "headers": headers("ETag"),
    },
    NOT_MODIFIED: _UNCHANGED,
    **failures("invalid_parameter", "unknown_parameter", *_NO_STORE),
}
CHART_LINK_ANSWERS: Answers = {
    OK: {"model": _SONG, "description": "The song as it stands now", "headers": headers()},
    **failures(*BAD_PARAMETERS, *BAD_BODY, "not_found", *_NO_STORE, "capacity_exhausted"),
}
