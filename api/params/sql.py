"""Bodies of the operations that run SQL of users."""

from math import isfinite
from typing import Annotated

from pydantic import BeforeValidator, Field, StrictBool, StrictFloat, StrictInt, StrictStr
from pydantic_core import PydanticCustomError

from api.params.fields import EncodableText, PrintableText, StrictModel
from warehouse.exports.table_files import TableFormat

MAX_SQL_LENGTH = 20_000
MAX_NAME_LENGTH = 64
MAX_PARAMETERS = 50
DEFAULT_ROWS = 1000
MAX_ROWS = 10_000
FILE_ROWS = 100_000
"""A file has all rows or is refused; nobody would see that some are missing."""


def _bounded(value: object) -> object:
    """Refuse a number that no column has: a real number would take its place, or infinity."""
    if isinstance(value, int):
        is_bounded = -(2**63) <= value < 2**63
    else:
        is_bounded = not isinstance(value, float) or isfinite(value)
    if not is_bounded:
        raise PydanticCustomError("number", "Input should be a number of at most 64 bits")
    return value


SqlParameter = Annotated[
    EncodableText | StrictInt | StrictFloat | StrictBool | None, BeforeValidator(_bounded)
]
_Name = Annotated[StrictStr, Field(min_length=1, max_length=MAX_NAME_LENGTH)]


class StatementBody(StrictModel):
    """A statement, or the name of a query of the library."""

    sql: Annotated[PrintableText, Field(min_length=1, max_length=MAX_SQL_LENGTH)] | None = Field(
        None,
        description="one read-only statement in DuckDB's dialect. 一条只读 SQL 语句（DuckDB 语法）",
        examples=["select rank, aweme_id from marts.rankings order by rank"],
    )
    query: _Name | None = Field(
        None, description="name of a query of the library, instead of `sql`. 常用查询的名称"
    )
    parameters: Annotated[dict[_Name, SqlParameter], Field(max_length=MAX_PARAMETERS)] = Field(
        {}, description="values of `$name` in the statement; null: not given. 参数值"
    )
    as_of: Annotated[PrintableText, Field(max_length=MAX_NAME_LENGTH)] | None = Field(
        None,
        description="only data committed until then: a date (its end, UTC) or a time. 截止时间",
        examples=["2026-11-01"],
    )


class SqlBody(StatementBody):
    """A statement whose rows are wanted."""

    row_limit: StrictInt = Field(
        DEFAULT_ROWS, ge=1, le=MAX_ROWS, description="maximum number of rows. 最多返回的行数"
    )


class SqlExportBody(StatementBody):
    """A statement whose rows are wanted as a file."""

    form: TableFormat = Field(description="file format. 文件格式")
    bom: StrictBool = Field(
        False,
        description="CSV for spreadsheets: marked, formulas escaped. 供表格软件使用的 CSV",
    )
