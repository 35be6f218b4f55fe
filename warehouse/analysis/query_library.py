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
_WHOLE = "a whole number of at most 64 bits"


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
        try:
            if self.type == "integer":
                return _whole(str(text))
            return date.fromisoformat(str(text)).isoformat() if self.type == "date" else str(text)
        except ValueError as error:
            kind = "a date such as 2026-11-01" if self.type == "date" else _WHOLE
            raise InvalidParameterError(f"{self.name}: {str(text)!r} is not {kind}") from error


def _whole(text: str) -> int:
    value = int(text)
    if not -(2**63) <= value < 2**63:
        raise ValueError(text)
    return value


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

    def values(self, given: Mapping[str, str | int | date | None]) -> dict[str, str | int | None]:
        """Return a value for every parameter: the given one, or its default.

        Raises:
            InvalidParameterError: A parameter is unknown, or a value is not of its type.
        """
        names = [parameter.name for parameter in self.parameters]
        for name in given:
            if name not in names:
                raise unknown_name("parameter", name, names)
        return {one.name: one.value_of(given.get(one.name, one.default)) for one in self.parameters}


@cache
def named_queries() -> tuple[NamedQuery, ...]:
    """Return all queries, by subject and name."""
    return tuple(_read(path) for path in sorted(FOLDER.glob("*/*.sql")))


def find_query(name: str) -> NamedQuery:
    """Return the query of this name.

    Raises:
        InvalidParameterError: There is none.
    """
    for query in named_queries():
        if query.name == name:
            return query
    raise unknown_name("query", name, [query.name for query in named_queries()])


def _read(path: Path) -> NamedQuery:
    text = path.read_text(encoding="utf-8")
    header = [(str(found[1]), str(found[2])) for found in _HEADER.finditer(text)]
    facts = dict(header)
    parameters = tuple(_parameter(value) for kind, value in header if kind == "parameter")
    sql = "\n".join(line for line in text.splitlines() if not line.startswith("-- ")).strip()
    return NamedQuery(
        path.stem, path.parent.name, facts["title"], facts["title_zh"], facts["description"],
        facts["description_zh"], parameters, sql,
    )  # fmt: skip


def _parameter(text: str) -> QueryParameter:
    found = _PARAMETER.fullmatch(text)
    if found is None:
        raise ValueError(f"not a parameter of a named query: {text}")
    name, kind, default, meaning, meaning_zh = found.groups()
    kept = None if default is None else default.strip()
    return QueryParameter(name, cast(ParameterType, kind), kept, meaning, meaning_zh)
