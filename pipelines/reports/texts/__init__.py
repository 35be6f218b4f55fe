"""The texts of reports, one file per language, and how numbers read in it.

English sections are the Markdown of the notebooks; `zh.toml` translates them by the id of their
cell. Codes of a result (surfaces, stop reasons, links) have their messages in
`pipelines/documents`.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import Any

from pipelines.documents import messages
from pipelines.documents.column_messages import CODES
from pipelines.documents.html_pages import plain_text
from pipelines.documents.messages import LANGUAGES, Message
from warehouse.records.errors import InvalidParameterError

UNKNOWN = "—"
_MOST_CHARS = 60
_SMALL = 100.0
_CODES: Mapping[str, Mapping[str, Message]] = {**CODES, "kind": messages.VARIANTS}
"""Columns whose values are codes that other parts of the project show, too."""


@dataclass(frozen=True, slots=True)
class ReportTexts:
    """The texts of one language."""

    language: str
    entries: Mapping[str, Any]

    def text(self, place: str, **values: object) -> str:
        """Return the text at a dotted place, with values filled in as they are shown."""
        entry: Any = self.entries
        for part in place.split("."):
            entry = entry[part]
        formatted = {name: self.value(value) for name, value in values.items()}
        # Without values the text may contain braces.
        return str(entry).format(**formatted) if formatted else str(entry)

    def section(self, report: str, cell_id: str, source: str) -> str:
        """Return the Markdown of a cell in this language."""
        sections: Mapping[str, str] = self.entries[report].get("sections", {})
        return sections.get(cell_id, source)

    def heading(self, column: str) -> str:
        """Return the heading of a column; a name without one is shown as words."""
        columns: Mapping[str, str] = self.entries["columns"]
        if column in messages.FIGURES and column not in columns:
            return messages.FIGURES[column].text(self.language)
        return columns.get(column) or column.replace("_", " ")

    def code(self, column: str, value: object) -> object:
        """Return the words of a code in a column; any other value as it is."""
        if not isinstance(value, str):
            return value
        if (message := _CODES.get(column, {}).get(value)) is not None:
            return message.text(self.language)
        return self.entries["codes"].get(column, {}).get(value, value)

    def ordered(self, column: str | None) -> list[str] | None:
        """Return the words of a column's codes in their order; None without a column."""
        if column is None:
            return None
        codes = [*_CODES.get(column, {}), *self.entries["codes"].get(column, {})]
        return [str(self.code(column, code)) for code in codes]

    def value(self, value: object) -> str:
        """Format a value: counts with thousands separators, times in UTC to the minute."""
        if value is None:
            return UNKNOWN
        if isinstance(value, bool):
            return self.text("page.yes" if value else "page.no")
        formats = (form(value) for kind, form in _FORMATS if isinstance(value, kind))
        formatted = next(formats, None)
        text = plain_text(value) if formatted is None else formatted
        return text if len(text) <= _MOST_CHARS else f"{text[: _MOST_CHARS - 1]}…"

    def key_figure(self, value: object) -> str:
        """Format a number for the cover: at most four digits of a large one, a share in percent."""
        if isinstance(value, Share):
            return value.text
        if not isinstance(value, int) or isinstance(value, bool):
            return self.value(value)
        for size, unit in _UNITS[self.language]:
            if value >= size:
                return f"{value / _BASES[unit]:.1f}{unit}"
        return f"{value:,}"


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a whole, shown in whole percent. Neither 0 nor 100 % unless it is exactly that."""

    part: int
    whole: int

    @property
    def percent(self) -> int:
        """The share in whole percent."""
        # Round half up in whole numbers: 100 * part / whole + 1/2.
        nearest = (200 * self.part + self.whole) // (2 * self.whole)
        if 0 < self.part < self.whole:
            return min(99, max(1, nearest))
        return nearest

    @property
    def text(self) -> str:
        """The share as it is shown; unknown without a whole."""
        return f"{self.percent} %" if self.whole else UNKNOWN


@cache
def load_texts(language: str) -> ReportTexts:
    """Return the texts of a language.

    Raises:
        InvalidParameterError: There is no such language.
    """
    if language not in LANGUAGES:
        raise InvalidParameterError(
            f"language: {language!r} is not a language of reports",
            hint=f"languages: {', '.join(LANGUAGES)}",
        )
    file = Path(__file__).with_name(f"{language}.toml")
    return ReportTexts(language, tomllib.loads(file.read_text(encoding="utf-8")))


_UNITS = {
    "en": ((10**9, " B"), (10**6, " M")),
    "zh": ((10**8, " 亿"), (10**5, " 万")),
}
_BASES = {" B": 10**9, " M": 10**6, " 亿": 10**8, " 万": 10**4}
"""Sizes from which a number on the cover is shortened, with their units."""

# Each function takes a value of the type in front of it, which the annotation cannot express. The
# first match applies: in Python a datetime is a date.
_FORMATS: tuple[tuple[type, Callable[[Any], str]], ...] = (
    (Share, lambda value: value.text),
    (int, lambda value: f"{value:,}"),
    (float, lambda value: f"{value:.3g}" if abs(value) < _SMALL else f"{value:,.0f}"),
    (datetime, lambda value: f"{value.astimezone(UTC):%Y-%m-%d %H:%M}"),
    (date, lambda value: value.isoformat()),
    (list, lambda value: ", ".join(map(str, value))),
)
