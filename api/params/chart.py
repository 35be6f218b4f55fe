"""Queries and bodies of the chart operations. `CHART_PARAMETERS` has the limits of endpoint 16."""

from typing import Annotated

from pydantic import Field, StrictInt, StrictStr

from api.params import fields
from api.params.notes import MAX_NAME_LENGTH, MAX_NOTE_LENGTH
from pipelines.charts.rules.history import CHART_PARAMETERS, Span, read_span
from warehouse.records.charts import SongLinkChoice
from warehouse.records.values import PLATFORM_ID

_DATE = {"format": "date", "examples": ["2026-01-31"]}


def _date_description(name: str) -> str:
    parameter = CHART_PARAMETERS[name]
    return f"{parameter.meaning}. {parameter.meaning_zh}"


class ChartQuery(fields.QueryModel):
    """Query of the chart history. `to_span` checks whether its dates form a range."""

    start_date: Annotated[
        fields.EncodableText,
        Field(description=_date_description("start_date"), json_schema_extra={**_DATE}),
    ]
    end_date: Annotated[
        fields.EncodableText,
        Field(description=_date_description("end_date"), json_schema_extra={**_DATE}),
    ]
    interval_days: StrictInt = fields.parameter_field("interval_days", CHART_PARAMETERS)
    limit: StrictInt = fields.parameter_field("limit", CHART_PARAMETERS)

    def to_span(self) -> Span:
        """Return the requested range of days.

        Raises:
            InvalidDateRangeError: A date is invalid, or the range is outside the chart.
        """
        return read_span(self.start_date, self.end_date)


_SONG_KEY = "`song_key` of a song in the chart history. 歌曲标识，见历史榜单返回的 song_key"
SongKeyText = Annotated[
    fields.PrintableText,
    Field(
        min_length=1,
        max_length=100,
        description=_SONG_KEY,
        examples=["hash:890f4b7f875281c010c0ef117d421673"],
    ),
]


class ChartLinksQuery(fields.QueryModel):
    """Query of manual links between songs and music ids."""

    song_key: SongKeyText | None = Field(None, description=_SONG_KEY)


class ChartLinkBody(fields.StrictModel):
    """Body of a manual link between a song and a music id."""

    song_key: SongKeyText
    music_id: Annotated[
        StrictStr,
        Field(
            pattern=f"^{PLATFORM_ID}$",
            description="music id, 5 to 30 digits. 音乐 ID, 5 至 30 位数字",
            examples=["7348759830572834348"],
        ),
    ]
    said: SongLinkChoice = Field(
        description=(
            "`same`: the song is this music id; `different`: it is not; `withdrawn`: the "
            "automatic rules apply again. 同一首、不是同一首或撤回"
        )
    )
    said_by: Annotated[fields.PrintableText, Field(max_length=MAX_NAME_LENGTH)] | None = Field(
        None, description="who made the decision. 标注人"
    )
    note: Annotated[fields.PrintableText, Field(max_length=MAX_NOTE_LENGTH)] | None = Field(
        None, description="free text. 备注"
    )
