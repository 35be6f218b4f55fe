"""What may follow a text of SQL: tables after `from`, else columns, key words and functions."""

import re

from warehouse.analysis.description import NAMES, describe_table

COMMANDS = (".describe", ".help", ".quit", ".tables")
KEY_WORDS = (
    "and", "as", "asc", "between", "by", "case", "desc", "describe", "distinct", "else", "end",
    "from", "group by all", "having", "in", "is not null", "is null", "join", "left join", "like",
    "limit", "not", "nulls last", "on", "or", "order by", "qualify", "select", "then", "union all",
    "using", "when", "where", "with",
    "any_value(", "arg_max(", "arg_min(", "avg(", "coalesce(", "contains(", "count(*)",
    "count(distinct ", "date_trunc(", "lower(", "max(", "median(", "min(", "row_number()", "sum(",
)  # fmt: skip
_WORD = re.compile(r"[\w.]*$")
_TABLE_EXPECTED = re.compile(r"\b(?:from|join|describe)\s+[\w.]*$", re.IGNORECASE)
_NAMED = re.compile(r"\b(?:raw|marts|seen)\.\w+")


def complete_sql(text: str) -> tuple[str, list[str]]:
    """Return the word before the cursor, and what it may become."""
    found = _WORD.search(text)
    word = found.group() if found else ""
    if text.startswith("."):
        command, has_argument, _ = text.partition(" ")
        names = NAMES if has_argument and command == ".describe" else COMMANDS
    elif _TABLE_EXPECTED.search(text):
        names = NAMES
    else:
        names = (*_columns(text), *KEY_WORDS, *NAMES)
    wanted = word.lower()
    return word, [name for name in dict.fromkeys(names) if _fits(name, wanted)]


def _columns(text: str) -> tuple[str, ...]:
    """Return the columns of the tables that the text names."""
    named = [name for name in _NAMED.findall(text) if name in NAMES]
    return tuple(column.name for name in named for column in describe_table(name).columns)


def _fits(name: str, word: str) -> bool:
    """Accept the noun of a table for its full name."""
    return name.startswith(word) or (bool(word) and name.partition(".")[2].startswith(word))
