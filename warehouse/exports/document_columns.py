"""Columns of exports that are made from documents: the answers of the service, stored results.

The columns of a video are here, for every file that has videos of a result: the exports of the
service, the rows that the console saves, and `results.videos` of a data package. Columns of stored
tables are in `warehouse/tables`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from warehouse.exports.export_table import ExportColumn, ExportKind
from warehouse.records.values import ReadOnlyDocument
from warehouse.records.videos import COUNTS
from warehouse.tables import column as columns


@dataclass(frozen=True, slots=True)
class DocumentColumn:
    """A column, and the path to its value in a row's document, by default its name.

    `meaning` is for the data dictionary of a package: a column of a video that has one is in
    `results.videos`, too.
    """

    name: str
    kind: ExportKind
    path: str = ""
    meaning: str = ""

    @property
    def export_column(self) -> ExportColumn:
        """The column of a file."""
        return ExportColumn(self.name, self.kind)

    @property
    def table_column(self) -> columns.Column:
        """The column of a table of a data package."""
        return columns.nullable(self.name, _TYPES[self.kind], self.meaning)

    def value(self, row: ReadOnlyDocument) -> object:
        """Return the value at the path, as the kind of the column; None if there is none."""
        value: object = row
        for step in (self.path or self.name).split("."):
            value = value.get(step) if isinstance(value, Mapping) else None
        if value is None:
            return None
        # Times come as Unix seconds from the platform, and as text from this service.
        if self.kind == "time" and isinstance(value, int | float):
            return datetime.fromtimestamp(value, UTC)
        if self.kind == "time" and isinstance(value, str):
            return datetime.fromisoformat(value).astimezone(UTC)
        if self.kind == "text":
            return value if isinstance(value, str) else str(value)
        return float(value) if self.kind == "real" and isinstance(value, int | float) else value


_TYPES = {
    "text": columns.TEXT,
    "whole": columns.INTEGER,
    "real": columns.FLOAT,
    "flag": columns.BOOLEAN,
    "time": columns.TIME,
}

VIDEO_COLUMNS = (
    DocumentColumn("aweme_id", "text"),
    DocumentColumn("desc", "text"),
    DocumentColumn("nickname", "text", "author.nickname"),
    DocumentColumn("unique_id", "text", "author.unique_id"),
    DocumentColumn("sec_uid", "text", "author.sec_uid"),
    DocumentColumn("create_time", "time"),
    *(DocumentColumn(name, "whole", f"statistics.{name}") for name in COUNTS),
    DocumentColumn("hot_score", "whole"),
    DocumentColumn("statistics_complete", "flag"),
    DocumentColumn("music_id", "text", "music.id_str"),
    DocumentColumn("music_title", "text", "music.title"),
    DocumentColumn("share_url", "text"),
    DocumentColumn("media_type", "text"),
    DocumentColumn("observed_at", "time", meaning="observation that the counts are from"),
    DocumentColumn("first_observed_at", "time"),
    DocumentColumn("created_at", "time"),
    DocumentColumn("created_at_source", "text"),
    DocumentColumn("music_created_at", "time", "music.created_at"),
    DocumentColumn("born_with", "text", "music.born_with.aweme_id"),
)
"""The columns of a video. Those of its link and its evidence are in `api/services/exports`."""
PACKAGE_VIDEO_COLUMNS = tuple(column for column in VIDEO_COLUMNS if column.meaning)


def document_columns(text: str) -> tuple[DocumentColumn, ...]:
    """Parse `name:kind` or `name:kind:path`, separated by spaces."""
    return tuple(DocumentColumn(*entry.split(":")) for entry in text.split())  # type: ignore[arg-type]  # the kinds are literals
