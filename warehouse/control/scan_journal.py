"""What a scan keeps until its job ends: the journal of what its runs have read, and its preview.

The lake gets captures in batches, so what a killed process has read is not all there. Here each
capture is written before the scan sees it. The next run of the job is answered from the journal
instead of the platform; the rows go when the job ends. What a row holds is known to
`pipelines.captures.recording.journal`. The preview is what the scan has confirmed so far, for those
who watch it; what it holds is known to `pipelines.scan.state.preview`.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection, delete, func, insert, select, update

from warehouse.control.database import StoreRows, values_of
from warehouse.control.schema import JOBS, SCAN_JOURNAL, SCAN_PREVIEWS


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalRow:
    """One thing that a run has read.

    `checkpoint` is the number of the last checkpoint before it, `key` the identity of the request,
    `capture_id` its row of `raw.captures` if it has one. `document` and `body` are compressed.
    """

    job_id: str
    run_number: int
    position: int
    checkpoint: int
    key: str
    capture_id: str | None
    document: bytes
    body: bytes | None


@dataclass(frozen=True, slots=True)
class StoredPreview:
    """What a running scan had confirmed at a time; `document` is compressed."""

    updated_at: datetime
    document: bytes


class ScanJournalRows(StoreRows):
    """Journals and previews of scans in the control store."""

    def add_to_journal(self, row: JournalRow) -> None:
        """Append to the journal of a job."""
        values = {name: getattr(row, name) for name in JournalRow.__slots__}
        self._database.write(insert(SCAN_JOURNAL).values(values))

    def read_journal(
        self, job_id: str, *, since: int, captures: Collection[str] = ()
    ) -> list[JournalRow]:
        """Return the rows since a checkpoint, and earlier ones of these captures, in order."""
        wanted = (SCAN_JOURNAL.c.checkpoint >= since) | SCAN_JOURNAL.c.capture_id.in_(captures)
        query = (
            select(SCAN_JOURNAL)
            .where(SCAN_JOURNAL.c.job_id == job_id, wanted)
            .order_by(SCAN_JOURNAL.c.run_number, SCAN_JOURNAL.c.position)
        )
        return [JournalRow(**values_of(row)) for row in self._database.read(query)]

    def journal_captures(self, job_id: str) -> list[str]:
        """Return the captures that the journal of a job names."""
        named = (SCAN_JOURNAL.c.job_id == job_id, SCAN_JOURNAL.c.capture_id.is_not(None))
        return self._database.scalars(select(SCAN_JOURNAL.c.capture_id).where(*named))

    def next_journal_position(self, job_id: str, run_number: int) -> int:
        """Return the position of the next row of a run."""
        last = select(func.max(SCAN_JOURNAL.c.position)).where(
            SCAN_JOURNAL.c.job_id == job_id, SCAN_JOURNAL.c.run_number == run_number
        )
        found = self._database.scalar(last)
        return 0 if found is None else int(found) + 1

    def rename_journal_captures(self, job_id: str, renamed: Mapping[str, str]) -> None:
        """Give captures of the journal other ids, from old to new."""
        with self._database.writing() as connection:
            for before, after in renamed.items():
                connection.execute(
                    update(SCAN_JOURNAL)
                    .where(SCAN_JOURNAL.c.job_id == job_id, SCAN_JOURNAL.c.capture_id == before)
                    .values(capture_id=after)
                )

    def drop_journal(self, job_id: str) -> None:
        """Delete the journal of a job."""
        self._database.write(delete(SCAN_JOURNAL).where(SCAN_JOURNAL.c.job_id == job_id))

    def save_preview(self, job_id: str, document: bytes, *, run_number: int) -> None:
        """Replace the preview of a job, if this run still holds it."""
        held = select(JOBS.c.job_id).where(
            JOBS.c.job_id == job_id, JOBS.c.run_number == run_number, JOBS.c.status == "running"
        )
        values = {"job_id": job_id, "updated_at": self._database.now(), "document": document}
        with self._database.writing() as connection:
            if connection.execute(held).first() is not None:
                connection.execute(delete(SCAN_PREVIEWS).where(SCAN_PREVIEWS.c.job_id == job_id))
                connection.execute(insert(SCAN_PREVIEWS).values(values))

    def read_preview(self, job_id: str) -> StoredPreview | None:
        """Return the preview of a running job, None if it has none."""
        query = select(SCAN_PREVIEWS).where(SCAN_PREVIEWS.c.job_id == job_id)
        row = self._database.first(query)
        if row is None:
            return None
        return StoredPreview(datetime.fromtimestamp(row.updated_at, UTC), row.document)


def delete_scan_rows(connection: Connection, job_id: str) -> None:
    """Delete the journal and the preview of a job."""
    for table in (SCAN_JOURNAL, SCAN_PREVIEWS):
        connection.execute(delete(table).where(table.c.job_id == job_id))
