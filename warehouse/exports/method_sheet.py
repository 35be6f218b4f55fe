"""Facts that accompany exported rows: how they were obtained, and the coverage of their jobs."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from warehouse.engine.duckdb_engine import Engine
from warehouse.exports import error_sheet
from warehouse.exports.export_table import ExportColumn, ExportTable, to_table
from warehouse.exports.extracts import ExportScope, Extract, choose_extracts
from warehouse.exports.pseudonyms import PSEUDONYM_NOTE
from warehouse.exports.table_files import ExportMethod
from warehouse.home import is_demo_world
from warehouse.queries.erasure import is_history_rewritten
from warehouse.queries.results import read_result_document
from warehouse.records.errors import WarehouseUnavailableError
from warehouse.records.times import to_utc_text
from warehouse.records.values import Row

MOST_SHEETS = 20
COVERAGE_NOTE = "What guests can see, never a full list of the platform."
METHOD_NOTE = (
    "Videos are confirmed by the same music id, by audio (chroma, MFCC and spectral peaks at a "
    "rigid alignment), or by a music id verified by audio; unknown values are empty, never 0."
)


def describe_method(
    engine: Engine,
    extracts: Sequence[Extract],
    scope: ExportScope,
    *,
    is_pseudonymised: bool,
    creator: str | None = None,
) -> ExportMethod:
    """Return the facts that accompany an export, of an engine with a fixed `as_of`.

    No other time is among them, so that the same time gives the same file.
    """
    assert engine.as_of is not None, "an export shows one moment"
    facts = {
        "tables": ", ".join(extract.table.name for extract in extracts),
        "as_of": to_utc_text(engine.as_of),
        "scope": scope.words,
        "world": engine.lake.world,
        "is_demo_data": str(is_demo_world(engine.lake.world)).lower(),
        "method": METHOD_NOTE,
        "coverage_note": COVERAGE_NOTE,
    }
    if is_history_rewritten(engine):
        facts["history_rewritten"] = "true"
    for extract in extracts:
        if extract.left_out:
            facts[f"left_out of {extract.table.name}"] = ", ".join(extract.left_out)
    if creator is not None:
        facts["creator"] = creator
    if is_pseudonymised:
        facts["pseudonyms"] = PSEUDONYM_NOTE
    return ExportMethod(
        tuple(facts.items()),
        coverage=read_scope_coverage(engine, scope),
        error_sheet=read_scope_sheets(engine, scope, is_pseudonymised=is_pseudonymised),
    )


def read_scope_sheets(
    engine: Engine, scope: ExportScope, *, is_pseudonymised: bool
) -> ExportTable | None:
    """Return the error sheets of the newest scan of each track in scope; None without a scan.

    Only the newest scans are included, because a sheet is text to be read. A pseudonymised sheet
    has the music id instead of the title, which names the uploader of a user sound.
    """
    scans = read_newest_scans(engine, scope)
    if is_pseudonymised:
        return _sheets((job_id, result | {"music": None}) for job_id, result in scans)
    return _sheets(scans)


def read_job_sheets(
    engine: Engine, job_ids: Sequence[str], *, language: error_sheet.SheetLanguage = "en"
) -> ExportTable | None:
    """Return the error sheets of the first of these scans; None if none of them has a result."""
    return _sheets(_scan_results(engine, job_ids[:MOST_SHEETS]), language)


def _sheets(
    scans: Iterable[tuple[str, Row]], language: error_sheet.SheetLanguage = "en"
) -> ExportTable | None:
    tables = [
        (
            job_id,
            error_sheet.to_sheet_table(error_sheet.fill_error_sheet(result, language=language)),
        )
        for job_id, result in scans
    ]
    if not tables:
        return None
    columns = (ExportColumn("job_id", "text"), *tables[0][1].columns)
    rows = tuple((job_id, *row) for job_id, table in tables for row in table.rows)
    return ExportTable("error_sheet", columns, rows)


def read_newest_scans(engine: Engine, scope: ExportScope) -> Iterator[tuple[str, Row]]:
    """Return the job id and the result of the newest scan of each track in scope, newest first.

    At most `MOST_SHEETS`; neither a search by name nor a discovery takes the place of a scan. A
    damaged result has no sheet; the export goes on, and its rows are exported as they are.
    """
    extract = choose_extracts("marts.job_results", scope)[0]
    # The music id of a search by name is `keyword:…`. A discovery has no coverage report, so
    # every scan of its track is preferred to it.
    newest = engine.rows(
        f"""
        select job_id from marts.job_results
        where {extract.where} and music_id not like 'keyword:%'
        qualify row_number() over (
            partition by music_id
            order by job_id in (select job_id from marts.coverage) desc, committed_at desc, job_id
        ) = 1
        order by committed_at desc, job_id
        """,  # noqa: S608  # no user input; values are parameters
        **extract.params,
    )
    return islice(_scan_results(engine, [row["job_id"] for row in newest]), MOST_SHEETS)


def _scan_results(engine: Engine, job_ids: Sequence[str]) -> Iterator[tuple[str, Row]]:
    for job_id in job_ids:
        try:
            result = read_result_document(engine, job_id)
        except WarehouseUnavailableError:  # a damaged result has no sheet
            continue
        if result is not None and error_sheet.is_scan_result(result):
            yield job_id, result


def read_scope_coverage(engine: Engine, scope: ExportScope) -> ExportTable:
    """Return the coverage of the jobs in scope, summed by source and stop reason."""
    extract = choose_extracts("marts.coverage", scope)[0]
    sources = engine.table(
        f"""
        select surface, stop_reason, count(distinct job_id) as job_count,
            sum(requests) as requests, sum(pages) as pages, sum(items) as items,
            sum(new_items) as new_items
        from marts.coverage where {extract.where}
        group by surface, stop_reason order by surface, stop_reason
        """,  # noqa: S608  # no user input; values are parameters
        extract.params,
    )
    return to_table("coverage", sources)
