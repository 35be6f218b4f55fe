"""Numbered corrections of rows that earlier releases wrote: what they stored for an unknown value.

A table gets the corrections of versions later than its own when it is opened (`schema_evolution`).
Each is one atomic commit, and finds nothing to change when it is repeated. A lake that is opened
for reading alone is not written; the engine corrects the values in its views (`warehouse.engine`).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from deltalake import DeltaTable

from warehouse.lake.file_layout import rewrite_properties
from warehouse.tables import Table


@dataclass(frozen=True, slots=True)
class RowMigration:
    """Values of a table that mean "unknown" in rows of versions before `version`.

    That version adds no columns.

    `unknown_where`: by column, the condition of the rows whose value means "unknown", in SQL that
    DuckDB and Delta's own engine both read.
    """

    table: str
    version: int
    unknown_where: Mapping[str, str]

    @property
    def corrected(self) -> dict[str, str]:
        """By column, the expression of its corrected value."""
        return {
            column: f"case when {condition} then null else {column} end"
            for column, condition in self.unknown_where.items()
        }

    def apply(self, opened: DeltaTable) -> int:
        """Set the values to null in one commit; return in how many rows.

        Raises:
            CommitFailedError: Another commit came before; nothing has changed.
        """
        # Columns with the same condition are corrected together.
        conditions = dict.fromkeys(self.unknown_where.values())
        changed = opened.update(
            predicate=" or ".join(f"({condition})" for condition in conditions),
            updates=self.corrected,
            writer_properties=rewrite_properties(self.table),
        )
        return int(changed["num_updated_rows"])


_SHOWS_NO_HASHTAGS = """hashtag_ids is not null and coalesce(array_length(hashtag_ids), 0) = 0 and (
    surface in (
        'music_list', 'music_page', 'trends_list', 'user_posts', 'user_page',
        'music_app', 'app_work'
    )
    or (surface in ('hashtag_list', 'hashtag_page') and data_provider = 'mock')
    or data_provider = 'file'
)"""
_SHOWS_NO_KIND = """media_type = 'video' and (
    (surface in ('user_posts', 'user_page') and duration_ms is null)
    or data_provider = 'file'
)"""

ROW_MIGRATIONS = (
    RowMigration(
        "raw.videos",
        3,
        {
            "hashtag_ids": _SHOWS_NO_HASHTAGS,
            "hashtag_names": _SHOWS_NO_HASHTAGS,
            "media_type": _SHOWS_NO_KIND,
            "images_count": f"images_count = 0 and {_SHOWS_NO_KIND}",
            "is_top": "is_top = false and data_provider = 'file'",
            "duration_ms": "duration_ms = 0",
        },
    ),
)
"""Version 3 of `raw.videos`: surfaces that do not show hashtags had none, lists of posts showed
videos only, a record of the user's own file was an unpinned video, and a post without a length was
one of no length."""


def row_migrations(table: Table, *, since: int) -> list[RowMigration]:
    """Return the corrections that a table of version `since` lacks, in order."""
    return sorted(
        (
            migration
            for migration in ROW_MIGRATIONS
            if migration.table == table.name and since < migration.version <= table.version
        ),
        key=lambda migration: migration.version,
    )
