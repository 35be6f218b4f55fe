"""The query of the chart's history (endpoint 16). Its limits are `CHART_PARAMETERS`."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field, StrictInt

from api.params import QueryModel, Unicode, limited
from pipelines.domain.chart_history import CHART_PARAMETERS, Span, read_span

_DATE = {"format": "date", "examples": ["2026-01-31"]}


def _day(name: str) -> str:
    parameter = CHART_PARAMETERS[name]
    return f"{parameter.meaning}. {parameter.meaning_zh}"


class ChartQuery(QueryModel):
    """Query of the chart's history. Whether its dates make a range is judged by `to_span`."""

    whole_fields: ClassVar[Mapping[str, type]] = {"interval_days": int, "limit": int}

    start_date: Annotated[
        Unicode, Field(description=_day("start_date"), json_schema_extra={**_DATE})
    ]
    end_date: Annotated[Unicode, Field(description=_day("end_date"), json_schema_extra={**_DATE})]
    interval_days: StrictInt = limited("interval_days", CHART_PARAMETERS)
    limit: StrictInt = limited("limit", CHART_PARAMETERS)

    def to_span(self) -> Span:
        """The days that were asked for.

        Raises:
            InvalidDateRangeError: They are no dates, or no range of the chart.
        """
        return read_span(self.start_date, self.end_date)
