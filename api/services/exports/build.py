"""Builds the file of an exported table, with its method sheet and name. Pure; runs in a thread."""

from dataclasses import dataclass

import orjson

from api.responses.errors import NotFoundError
from api.services.exports.tables import TableName, build_table
from warehouse.exports.error_sheet import fill_error_sheet, is_scan_result, to_sheet_table
from warehouse.exports.export_table import ExportTable
from warehouse.exports.table_files import MEDIA_TYPES, ExportMethod, TableFormat, to_file
from warehouse.records.values import ReadOnlyDocument

_FACTS = (
    "music_id", "keyword", "algorithm", "data_provider", "created_at", "confirmed_count",
    "returned_count", "requested_count", "count_satisfied", "candidate_pool_size",
    "unique_account_count", "coverage_complete", "node_count", "collected_count",
    "not_collected_count", "requested_end_date", "end_date_cut", "issues_refreshed",
)  # fmt: skip
EXPORT_COVERAGE_NOTE = "Public pages as a guest sees them, never a full list of the platform."


@dataclass(frozen=True, slots=True)
class ExportFile:
    """An exported file."""

    body: bytes
    media_type: str
    name: str


def build_file(
    envelope: ReadOnlyDocument, *, source: str, table: TableName, form: TableFormat, bom: bool
) -> ExportFile:
    """Build the file of one table of a response.

    Raises:
        NotFoundError: The response has no such table.
    """
    found = build_table(table, envelope["data"])
    method = _method(envelope, found, source)
    body = to_file(found, method, form, with_mark=bom)
    stamp = str(envelope["time"]).replace("-", "").replace(":", "").replace(" ", "-")
    demo = "demo-" if dict(method.facts)["is_demo_data"] == "true" else ""
    return ExportFile(body, MEDIA_TYPES[form], f"sametrack-{demo}{table}-{stamp}.{form}")


def _method(envelope: ReadOnlyDocument, table: ExportTable, source: str) -> ExportMethod:
    data = envelope["data"]
    root = data.get("result") or data
    is_demo = any(row[-1] for row in table.rows) or bool(data.get("is_demo_data"))
    facts = {
        "exported_at": f"{envelope['time']} {envelope['time_zone']}",
        "source": source,
        "is_demo_data": is_demo,
        "rows": len(table.rows),
        **{name: root[name] for name in _FACTS if name in root},
        "parameters": data.get("parameters", envelope.get("params", {})),
        "coverage_note": EXPORT_COVERAGE_NOTE,
    }
    told = tuple((name, _to_text(value)) for name, value in facts.items())
    return ExportMethod(told, _coverage(data, table), _error_sheet(root))


def _coverage(data: ReadOnlyDocument, table: ExportTable) -> ExportTable | None:
    try:
        return None if table.name == "coverage" else build_table("coverage", data)
    except NotFoundError:
        return None


def _error_sheet(root: ReadOnlyDocument) -> ExportTable | None:
    """Return the error sheet of a scan; other responses have none."""
    return to_sheet_table(fill_error_sheet(root)) if is_scan_result(root) else None


def _to_text(value: object) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
