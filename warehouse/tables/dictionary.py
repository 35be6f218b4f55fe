"""The data dictionary: a page that describes every table and column, and how exports treat each.

`python -m warehouse.tables.dictionary` writes the page in `docs` (`make docs` runs it); a test
compares the committed page.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from warehouse.tables import RELATIONS, Table
from warehouse.tables.column import BYTES, EXCEPTIONS, NAMING_SCHEME, TEXT, TEXT_LIST, Column

# Treatment of columns in pseudonymised exports.
#
# A column without a decision is left out, so that a new column leaks nothing. The keyed hash
# itself is in `warehouse.exports.pseudonyms`.

Treatment = Literal["kept", "account", "work", "entity", "out"]
"""`account` and `work` (a video): a keyed hash replaces the id, the same in every table.

`entity`: a hash if the row's surface is about an account, a video or a search; else kept. `out`:
left out.
"""

_ACCOUNT_COLUMNS = frozenset({"sec_uid"})
_VIDEO_COLUMNS = frozenset(
    {
        "aweme_id",
        "candidate_aweme_id",
        "first_aweme_id",
        "reference_aweme_id",
        "source_aweme_id",
        "top_aweme_id",
    }
)
_ENTITY_COLUMNS = frozenset({"entity_id", "source_entity_id"})
_KEPT_COLUMNS = frozenset({
    "album_audio_id", "album_id", "algorithm", "annotation_id", "asked_by", "association_type",
    "assumption", "not_audited_reason", "not_estimated_reason", "unit",
    "candidate_music_id", "capture_id", "ch_id", "codec", "common_sound_id", "comparison_id",
    "comparison_ids", "confidence",
    "content_type", "data_provider", "direction", "erasure_id", "error_type", "feature_version",
    "copy_evidence", "copy_of_music_id", "created_at_check", "evidence", "source_basis",
    "created_at_source", "follower_count_source", "music_service_track_id", "reference_source",
    "searched", "service_track_id",
    "hashtag_ids", "job_id", "kind", "lead_reason", "library_version", "limits", "link_id",
    "link_type", "media_type", "method", "music_id", "music_ids", "newest_job_id",
    "not_comparable_reason",
    "observation", "origin", "outcome", "parameters", "parser_version", "probe_id", "question",
    "reference_music_id", "relation", "report_id", "result_list", "said", "scan_job_id",
    "search_relevance_level", "segment", "song_hash", "song_key",
    "revision", "shared_part", "source_music_id", "source_surface", "stage", "status",
    "stop_reason", "surface", "title_relation", "track_music_id", "track_music_ids", "verdict",
    "via_music_id", "volid",
})  # fmt: skip
LEFT_OUT = frozenset({
    "artist", "author", "avatar_url", "backtrace", "came", "candidate_sha256", "cover_url", "desc",
    "detail_msg",
    "hashtag_names", "ip_location", "key_paths", "mapped_artist", "mapped_title", "marks",
    "music_author", "music_mapped_artist", "music_mapped_title", "music_title", "name",
    "next_backtrace", "next_search_id", "nickname", "nil_type", "note", "notice", "owner_nickname",
    "payload_sha256", "reason", "reference_sha256", "said_by", "salt", "search_id", "search_terms",
    "sha256", "share_url", "short_id", "signature", "sound_sha256", "source_music_title",
    "source_path", "term", "title", "uid", "unique_id", "went",
})  # fmt: skip
"""Names, texts, links, and hashes that anyone with the same sound or body could compute."""


def treatment_of(column: Column) -> Treatment:
    """Return the treatment of a column. Numbers, times and booleans are kept."""
    if column.name in _ACCOUNT_COLUMNS:
        return "account"
    if column.name in _VIDEO_COLUMNS:
        return "work"
    if column.name in _ENTITY_COLUMNS:
        return "entity"
    # A text without a decision may name somebody, so it is left out.
    is_plain = column.type not in (TEXT, TEXT_LIST, BYTES)
    return "kept" if is_plain or column.name in _KEPT_COLUMNS else "out"


PAGE = Path(__file__).parents[2] / "docs" / "data-dictionary.md"

_TREATMENT_LABELS: dict[Treatment, str] = {
    "kept": "kept",
    "account": "keyed hash",
    "work": "keyed hash",
    "entity": "keyed hash if personal",
    "out": "left out",
}
_HEAD = """# Data dictionary

Generated from the data contract in `warehouse/tables` by `make docs`; do not edit by hand.

Tables of the layer `raw` contain observations, those of `marts` conclusions. Rows are only
appended; a later observation is a later row. An unknown value is null, never 0. Ids are text.
Table names are the same in SQL. Views such as `seen.videos` contain the rows of `raw.videos`
whose capture is complete; everything else in Sametrack counts these. The views of the star join
tracks, music ids, videos, accounts and days ([analysis.md](analysis.md#the-star)).

`committed_at` is the time at which a row was written: a query "as of" a date returns the rows
written until then. The last column says how a pseudonymised export treats the column.
"""


def render_dictionary(tables: Sequence[Table] = RELATIONS) -> str:
    """Return the page as Markdown."""
    lines = [
        _HEAD,
        *(
            f"- [`{each.name}`](#{_anchor_of(each.name)}): one row per {each.row}"
            for each in tables
        ),
    ]
    # The scheme of column names, with the exceptions among the columns of these tables.
    names = {column.name for table in tables for column in table.columns}
    exceptions = [f"- `{name}`: {why}" for name, why in EXCEPTIONS.items() if name in names]
    lines += ["", "## Names of columns", "", *(f"- {rule}" for rule in NAMING_SCHEME), ""]
    if exceptions:
        lines += ["Other names, and why:", "", *exceptions, ""]
    return "\n".join([*lines, *map(render_table, tables)])


def render_table(table: Table) -> str:
    """Return the section of one table as Markdown."""
    key = ", ".join(f"`{name}`" for name in table.key)
    kind = "A view of the star" if table.is_view else f"Schema version {table.version}"
    lines = [
        f"## {table.name}",
        "",
        f"One row per {table.row}. Key: {key}. {kind}.",
        "",
        "| column | type | unit | null | meaning | pseudonymised |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for column in table.columns:
        meaning = column.meaning.replace("|", r"\|")
        lines.append(
            f"| `{column.name}` | {column.type_label} | {column.unit or ''} "
            f"| {'no' if column.required else 'yes'} | {meaning} "
            f"| {_TREATMENT_LABELS[treatment_of(column)]} |"
        )
    lines.append("")
    # What the columns join with, and which rows have no partner.
    if table.references:
        lines += ["Joins:", ""]
        for ref in table.references:
            target = f"`{ref.key}` of [`{ref.table}`](#{_anchor_of(ref.table)})"
            exception = f"; {ref.exception}" if ref.exception else ""
            lines.append(f"- `{ref.column}` is {target}{exception}")
        lines.append("")
    for example in table.examples:
        lines += [example.question, "", "```sql", example.sql, "```", ""]
    return "\n".join(lines)


def _anchor_of(name: str) -> str:
    """Return the anchor that Markdown viewers derive from the heading."""
    return name.replace(".", "")


if __name__ == "__main__":
    PAGE.write_text(render_dictionary(), encoding="utf-8")
