"""The library of named queries: SQL files with a title, a description and parameters.

A file of `named_queries` begins with comments:

    -- title: Growth of videos
    -- title_zh: 作品的增长
    -- description: Likes between the first and the last observation.
    -- description_zh: 首次与最近一次观测之间的点赞数变化。
    -- parameter: top integer = 20: number of videos / 作品数

The Chinese texts are for the console. `$top` in the statement stands for the parameter. Without
`= default` it is null, so the statement says what that means.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Literal, cast

from warehouse.analysis.description import unknown_name
from warehouse.records.errors import InvalidParameterError

FOLDER = Path(__file__).parent / "named_queries"
type ParameterType = Literal["text", "integer", "date"]
_HEADER = re.compile(r"-- (title|title_zh|description|description_zh|parameter): (.+)")
_PARAMETER = re.compile(r"(\w+) (text|integer|date)(?: =(.*?))?: (.+) / (.+)")


@dataclass(frozen=True, slots=True)
class QueryParameter:
    """A parameter; `default` None is null."""

    name: str
    type: ParameterType
    default: str | None
    meaning: str
    meaning_zh: str

    def value_of(self, text: str | int | date | None) -> str | int | None:
        """Return the value for the statement.

        Raises:
            InvalidParameterError: The text is not of the parameter's type.
        """
        if text is None:
            return None
        kind = "a whole number of at most 64 bits"
        try:
            if self.type == "integer":
                number = int(str(text))
                if -(2**63) <= number < 2**63:  # the database has no larger type for it
                    return number
                raise InvalidParameterError(f"{self.name}: {str(text)!r} is not {kind}")
            if self.type == "date":
                kind = "a date such as 2026-11-01"
                return date.fromisoformat(str(text)).isoformat()
        except ValueError as error:
            raise InvalidParameterError(f"{self.name}: {str(text)!r} is not {kind}") from error
        return str(text)


@dataclass(frozen=True, slots=True)
class NamedQuery:
    """A query of the library. `subject` is the folder of its file."""

    name: str
    subject: str
    title: str
    title_zh: str
    description: str
    description_zh: str
    parameters: tuple[QueryParameter, ...]
    sql: str

    def values(self, values: Mapping[str, str | int | date | None]) -> dict[str, str | int | None]:
        """Return a value for every parameter: that of `values`, or its default.

        Raises:
            InvalidParameterError: A parameter is unknown, or a value is not of its type.
        """
        names = [parameter.name for parameter in self.parameters]
        for name in values:
            if name not in names:
                raise unknown_name("parameter", name, names)
        return {
            parameter.name: parameter.value_of(values.get(parameter.name, parameter.default))
            for parameter in self.parameters
        }


@cache
def named_queries() -> tuple[NamedQuery, ...]:
    """Return all queries, by subject and name."""
    return tuple(_read_query(path) for path in sorted(FOLDER.glob("*/*.sql")))


def find_query(name: str) -> NamedQuery:
    """Return the query of this name.

    Raises:
        InvalidParameterError: There is no such query.
    """
    for query in named_queries():
        if query.name == name:
            return query
    raise unknown_name("query", name, [query.name for query in named_queries()])


def _read_query(path: Path) -> NamedQuery:
    text = path.read_text(encoding="utf-8")
    facts: dict[str, str] = {}
    parameters = []
    for line in _HEADER.finditer(text):
        facts[line[1]] = line[2]
        if line[1] == "parameter":
            match = _PARAMETER.fullmatch(line[2])
            if match is None:
                raise ValueError(f"not a parameter of a named query: {line[2]}")
            name, kind, default, meaning, meaning_zh = match.groups()
            parameters.append(
                QueryParameter(
                    name=name,
                    type=cast(ParameterType, kind),
                    default=None if default is None else default.strip(),
                    meaning=meaning,
                    meaning_zh=meaning_zh,
                )
            )
    # The header is for the library; the statement is what users see and copy.
    sql = "\n".join(line for line in text.splitlines() if not line.startswith("-- ")).strip()
    return NamedQuery(
        name=path.stem,
        subject=path.parent.name,
        title=facts["title"],
        title_zh=facts["title_zh"],
        description=facts["description"],
        description_zh=facts["description_zh"],
        parameters=tuple(parameters),
        sql=sql,
    )
