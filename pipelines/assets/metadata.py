"""What a run says about itself in the orchestrator's UI. Conversion only.

Text from outside is shown as text, never as markup: titles go through `MetadataValue.text`.
"""

from typing import Any

from dagster import MetadataValue, TableColumn, TableRecord, TableSchema

from pipelines.domain.coverage import merged
from pipelines.domain.records import Track
from pipelines.scan.session import ScanSession

type Metadata = dict[str, Any]

_LEDGER = TableSchema(
    columns=[
        TableColumn("surface", "string"),
        *(TableColumn(name, "int") for name in ("requests", "pages", "items", "new_items")),
        TableColumn("stop_reason", "string"),
    ]
)


def track_metadata(session: ScanSession, track: Track) -> Metadata:
    """Who the run is about, with a link to the job and to the public page."""
    return {
        "music_id": MetadataValue.text(track.music_id),
        "title": MetadataValue.text(track.title or "(no title)"),
        "job": MetadataValue.path(session.job_path),
        "public_page": MetadataValue.url(
            session.runtime.profile.public_address("public_music", music_id=track.music_id)
        ),
        "is_demo_data": session.runtime.is_demo,
    }


def coverage_metadata(session: ScanSession) -> Metadata:
    """The ledger so far, as a table."""
    records = [
        TableRecord({
            "surface": entry.surface,
            "requests": entry.requests,
            "pages": entry.pages,
            "items": entry.items,
            "new_items": entry.new_items,
            "stop_reason": entry.stop_reason,
        })
        for entry in merged(session.findings.ledger)
    ]  # fmt: skip
    return {
        "requests_used": session.captures.requests_used,
        "coverage": MetadataValue.table(records=records, schema=_LEDGER),
    }
