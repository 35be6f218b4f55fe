"""Erasure of an account from the tables of the lake: its rows, and cells that repeat its name.

The columns of the contract decide which rows are deleted. Files next to the lake are in `files`,
with the final search.
"""

from collections.abc import Iterable, Iterator
from itertools import product

from warehouse.engine.duckdb_engine import Engine
from warehouse.engine.quoting import sql_text
from warehouse.engine.seen_views import CAPTURES, IS_CURRENT
from warehouse.lake.packing import unpack_bytes
from warehouse.lake.store import Lake
from warehouse.maintenance.erasure.names import AccountNames, to_pattern
from warehouse.records.erasure import readable_forms
from warehouse.tables import BY_NAME, Table
from warehouse.tables.privacy import treatment_of

_IDS_PER_CONDITION = 500
_LINK_KINDS = ("user", "video", "photo", "note", "slides", "live")
_REPEATED = (
    ("raw.tracks", "owner_nickname"),
    ("raw.tracks", "author"),
    ("raw.videos", "music_author"),
    ("marts.chart_platform", "music_author"),
    ("marts.chart_links", "said_by"),
)
"""Cells of other accounts' rows that repeat the account's name: it uploaded the sound they use."""
_TITLES = (
    ("raw.tracks", "title"),
    ("raw.videos", "music_title"),
    ("marts.confirmed_videos", "source_music_title"),
    ("marts.chart_platform", "music_title"),
)
_NOTES = (("marts.chart_links", "note"),)
"""Free text, which may name any account."""
_TERMS = ("marts.search_related", "search_terms")
_ANNOTATIONS_SQL = """
    select annotation_id from marts.annotations where comparison_id in (
        select comparison_id from marts.audio_comparisons
        where candidate_aweme_id in (select unnest($videos::varchar[]))
            or reference_aweme_id in (select unnest($videos::varchar[]))
    )
"""


def erase_rows(lake: Lake, engine: Engine, names: AccountNames) -> tuple[dict[str, int], list[str]]:
    """Delete every row that names the account.

    Returns deleted rows by table, and the jobs whose results were deleted.

    Raises:
        WarehouseUnavailableError: The lake cannot be read or rewritten.
    """
    removed: dict[str, int] = {}

    def remove_where(table: str, condition: str) -> None:
        removed[table] = removed.get(table, 0) + lake.erase(table, condition)

    def remove(table: str, column: str, values: Iterable[str]) -> None:
        for part in _parts(sorted(set(values))):
            remove_where(table, f"{column} in ({part})")

    # All keys are collected before anything is deleted, which changes the files that are read.
    bodies = list(_matching(engine, "raw.payloads", "sha256", "body", names))
    results = list(_matching(engine, "marts.job_results", "job_id", "document", names))
    states = list(_matching(engine, "raw.scan_checkpoints", "job_id", "state", names))
    annotations = engine.rows(_ANNOTATIONS_SQL, {"videos": sorted(names.videos)})
    remove("raw.payloads", "sha256", bodies)
    remove("marts.job_results", "job_id", results)
    remove("raw.scan_checkpoints", "job_id", states)
    remove("marts.annotations", "annotation_id", (str(row["annotation_id"]) for row in annotations))
    # Captures of the account's own pages. If a replay has read one again, its observations are
    # double and go too; otherwise what it shows of other accounts stays, without a capture.
    replayed, current = _captures(engine, names)
    tables = [table for table in lake.tables if lake.version(table.name) > 0]  # ever had a row
    for table in tables:
        if any(column.name == "capture_id" and not column.required for column in table.columns):
            remove(table.name, "capture_id", replayed)
            for part in _parts(current):
                lake.blank(table.name, "capture_id", f"capture_id in ({part})")
    remove(CAPTURES, "reason", _link_reasons(names))
    # Rows with the account in one of their columns.
    for table in tables:
        for column, values in _conditions(table, names):
            remove(table.name, column, values)
    related, terms = _TERMS
    for term in sorted(names.words | names.ids - names.videos):
        remove_where(related, f"array_has({terms}, {sql_text(term)})")
    _blank_names(lake, {table.name for table in tables}, names)
    return {name: count for name, count in removed.items() if count}, results


def _captures(engine: Engine, names: AccountNames) -> tuple[list[str], list[str]]:
    """Return the ids of captures to delete: those that a replay has read again, and the others."""
    conditions = dict(_conditions(BY_NAME[CAPTURES], names)) | {"reason": _link_reasons(names)}
    where = " or ".join(f"{name} in (select unnest(${name}::varchar[]))" for name in conditions)
    rows = engine.rows(
        f"select capture_id, {IS_CURRENT} as is_current from {CAPTURES} where {where}",  # noqa: S608  # columns
        {name: sorted(values) for name, values in conditions.items()},
    )
    current = {str(row["capture_id"]) for row in rows if row["is_current"]}
    return sorted({str(row["capture_id"]) for row in rows} - current), sorted(current)


def _link_reasons(names: AccountNames) -> list[str]:
    """Return the reasons of captures of a link: `user MS4wLjABAAAA…`."""
    return [f"{kind} {account_id}" for kind in _LINK_KINDS for account_id in names.ids]


def _conditions(table: Table, names: AccountNames) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield the columns of a table that can name the account, with the values that do."""
    for column in table.columns:
        treatment = treatment_of(column)
        if treatment == "account":
            yield column.name, [names.sec_uid]
        elif treatment == "work":
            yield column.name, names.videos
        elif treatment == "entity" or column.name == "term":
            yield column.name, names.ids | names.words
        elif column.name == "uid":
            yield column.name, names.numbers


def _matching(
    engine: Engine, table: str, key: str, column: str, names: AccountNames
) -> Iterator[str]:
    """Yield keys of packed bodies that contain an id or a displayed name of the account."""
    pattern = to_pattern(names.ids | names.texts)
    with engine.reading(f"select {key}, {column} from {table}") as reader:  # noqa: S608  # constants of this module
        for batch in reader:
            keys, bodies = (array.to_pylist() for array in batch.columns)
            for name, packed in zip(keys, bodies, strict=True):
                if any(map(pattern.search, readable_forms(unpack_bytes(packed)))):
                    yield name


def _blank_names(lake: Lake, tables: set[str], names: AccountNames) -> None:
    """Empty the cells of other accounts' rows that name the account."""
    handles = {f"@{word}" for word in names.words}
    searches = (
        (_REPEATED, "{column} in ({value})", list(_parts(sorted(names.displayed)))),
        (_TITLES, "starts_with({column}, {value})", _texts(names.sound_titles)),
        (_TITLES, "strpos({column}, {value}) > 0", _texts(handles)),
        (_NOTES, "strpos({column}, {value}) > 0", _texts(names.ids | names.texts)),
    )
    for cells, condition, values in searches:
        for value, (table, column) in product(values, cells):
            if table in tables:
                lake.blank(table, column, condition.format(column=column, value=value))


def _texts(names: Iterable[str]) -> list[str]:
    return [sql_text(name) for name in sorted(names)]


def _parts(values: list[str]) -> Iterator[str]:
    """Yield conditions of limited length."""
    for at in range(0, len(values), _IDS_PER_CONDITION):
        yield ", ".join(sql_text(value) for value in values[at : at + _IDS_PER_CONDITION])
