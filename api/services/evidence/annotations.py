"""Manual annotations of compared pairs: "same" or "not the same".

An annotation confirms nothing and changes no verdict; annotations are exported to calibrate the
limits. Blocks. Not here: HTTP, command-line output.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

from api.params.notes import AnnotationVerdict
from api.schemas.extensions.exports import AnnotationDocument, AnnotationList
from api.services.evidence.service import ReadComparison, find_comparison
from pipelines.documents.videos import to_document, to_time
from warehouse.exports.export_table import ExportColumn, ExportRow, ExportTable
from warehouse.exports.table_files import to_csv
from warehouse.records.jobs import Origin
from warehouse.records.values import ReadOnlyRow

TABLE = "marts.annotations"
COLUMNS = (
    "pair_id",
    "label",
    "score",
    "verdict",
    "segment",
    "chroma_distance",
    "mfcc_distance",
    "overlap_s",
    "reference_start_s",
    "candidate_start_s",
    "peak_agreement",
    "speed",
    "semitones",
    "reason",
    "algorithm",
    "note",
    "annotated_at",
)
"""Columns of the exported annotations: pair, label, measurements, origin."""
_CSV_COLUMNS = tuple(ExportColumn(name, "text") for name in COLUMNS)


@dataclass(frozen=True, eq=False)
class AnnotationService:
    """Stores and returns annotations.

    Attributes:
        read_comparison: Returns the row of a comparison by id, None if there is none.
        read_annotations: Returns the annotations of a comparison, oldest first; all for None.
        append: Appends rows to a table of the lake.
        is_demo: True if the stored data is demo data.
    """

    read_comparison: ReadComparison
    read_annotations: Callable[[str | None], Sequence[ReadOnlyRow]]
    append: Callable[[str, Sequence[Mapping[str, object]]], None]
    is_demo: bool

    def add(
        self, comparison_id: str, verdict: AnnotationVerdict, *, note: str | None, origin: Origin
    ) -> AnnotationList:
        """Store an annotation of a pair and return all its annotations.

        Raises:
            NotFoundError: The comparison does not exist.
        """
        find_comparison(self.read_comparison, comparison_id)
        row = {
            "annotation_id": str(uuid4()),
            "comparison_id": comparison_id,
            "said": verdict,
            "note": (note or "").strip() or None,
            "origin": origin,
            "annotated_at": datetime.now(UTC),
        }
        self.append(TABLE, [row])
        # The engine may or may not see the new row already.
        others = [
            other
            for other in self.read_annotations(comparison_id)
            if other["annotation_id"] != row["annotation_id"]
        ]
        return self._document(comparison_id, [*others, row])

    def of(self, comparison_id: str) -> AnnotationList:
        """Return all annotations of a pair, oldest first.

        Raises:
            NotFoundError: The comparison does not exist.
        """
        find_comparison(self.read_comparison, comparison_id)
        return self._document(comparison_id, self.read_annotations(comparison_id))

    def to_csv(self) -> str:
        """Return all annotations with their measurements as CSV, for calibration."""
        rows: list[ExportRow] = []
        for row in self.read_annotations(None):
            cells = {
                **row,
                "pair_id": row["comparison_id"],
                "label": row["said"],
                "annotated_at": to_time(row["annotated_at"]),
            }
            rows.append(tuple(cells.get(name) for name in COLUMNS))
        table = ExportTable("annotations", _CSV_COLUMNS, tuple(rows))
        return to_csv(table, for_spreadsheets=False).decode()

    def _document(self, comparison_id: str, rows: Sequence[ReadOnlyRow]) -> AnnotationList:
        return {
            "comparison_id": comparison_id,
            "annotations": [
                to_document(AnnotationDocument, row, verdict=row["said"]) for row in rows
            ],
            "counts": {
                "same": sum(row["said"] == "same" for row in rows),
                "not_the_same": sum(row["said"] == "not_the_same" for row in rows),
            },
            "is_demo_data": self.is_demo,
        }
