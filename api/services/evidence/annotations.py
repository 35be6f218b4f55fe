"""Manual annotations of compared pairs: "same" or "not the same".

An annotation confirms nothing and changes no verdict; annotations are exported to calibrate the
limits. Blocks. Not here: HTTP, command-line output.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

from api.params.annotations import AnnotationVerdict
from api.responses.documents import to_document
from api.schemas.extensions.exports import AnnotationDocument, AnnotationList
from api.services.evidence.service import ReadComparison, find_comparison
from pipelines.documents.videos import to_time
from warehouse.exports.export_table import ExportColumn, ExportRow, ExportTable
from warehouse.exports.table_files import to_csv
from warehouse.records.jobs import Origin
from warehouse.records.values import ReadOnlyRow

TABLE = "marts.annotations"
MEASUREMENT_COLUMNS = (
    "score", "verdict", "segment", "chroma_distance", "mfcc_distance", "overlap_s",
    "reference_start_s", "candidate_start_s", "peak_agreement", "speed", "semitones", "reason",
)  # fmt: skip
COLUMNS = ("pair_id", "label", *MEASUREMENT_COLUMNS, "algorithm", "note", "annotated_at")
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
        self, comparison_id: str, said: AnnotationVerdict, *, note: str | None, origin: Origin
    ) -> AnnotationList:
        """Store an annotation of a pair and return all its annotations.

        Raises:
            NotFoundError: The comparison does not exist.
        """
        find_comparison(self.read_comparison, comparison_id)
        row = {
            "annotation_id": str(uuid4()),
            "comparison_id": comparison_id,
            "said": said,
            "note": (note or "").strip() or None,
            "origin": origin,
            "annotated_at": datetime.now(UTC),
        }
        self.append(TABLE, [row])
        return self._document(comparison_id, [*self._others(row), row])

    def of(self, comparison_id: str) -> AnnotationList:
        """Return all annotations of a pair, oldest first.

        Raises:
            NotFoundError: The comparison does not exist.
        """
        find_comparison(self.read_comparison, comparison_id)
        return self._document(comparison_id, self.read_annotations(comparison_id))

    def to_csv(self) -> str:
        """Return all annotations with their measurements as CSV, for calibration."""
        rows = tuple(_csv_row(row) for row in self.read_annotations(None))
        table = ExportTable("annotations", _CSV_COLUMNS, rows)
        return to_csv(table, for_spreadsheets=False).decode()

    def _others(self, row: ReadOnlyRow) -> list[ReadOnlyRow]:
        """Return earlier annotations; the engine may or may not see the newest row already."""
        said = self.read_annotations(row["comparison_id"])
        return [other for other in said if other["annotation_id"] != row["annotation_id"]]

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


def _csv_row(row: ReadOnlyRow) -> ExportRow:
    cells = {
        **row,
        "pair_id": row["comparison_id"],
        "label": row["said"],
        "annotated_at": to_time(row["annotated_at"]),
    }
    return tuple(cells.get(name) for name in COLUMNS)
