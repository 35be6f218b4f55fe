"""The journal of a scan's captures and its preview; both are deleted when the job ends.

The lake gets captures in batches, so the last captures of a killed process are not there. Here each
capture is written before the scan uses it. The next run of the job reads the journal instead of the
platform. The content of its rows is defined in `pipelines.captures.journal`. The preview
has the videos that the scan has confirmed so far, for users who watch it; its content is defined in
`pipelines.scan.state.preview`.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection, delete, func, insert, select, update

from warehouse.control.database import ControlStore
from warehouse.control.schema import JOBS, SCAN_JOURNAL, SCAN_PREVIEWS


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalRow:
    """A capture, or another response, that a run has read.

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
    """Videos that a running scan had confirmed at a time; `document` is compressed."""

    updated_at: datetime
    document: bytes


def append(control: ControlStore, row: JournalRow) -> None:
    """Append to the journal of a job."""
    values = {name: getattr(row, name) for name in JournalRow.__slots__}
    with control.write() as connection:
        connection.execute(insert(SCAN_JOURNAL).values(values))


def read(
    control: ControlStore, job_id: str, *, since: int, captures: Collection[str] = ()
) -> list[JournalRow]:
    """Return the rows since a checkpoint, and earlier ones of these captures, in order."""
    is_needed = (SCAN_JOURNAL.c.checkpoint >= since) | SCAN_JOURNAL.c.capture_id.in_(captures)
    query = (
        select(SCAN_JOURNAL)
        .where(SCAN_JOURNAL.c.job_id == job_id, is_needed)
        .order_by(SCAN_JOURNAL.c.run_number, SCAN_JOURNAL.c.position)
    )
    with control.read() as connection:
        return [JournalRow(**row._asdict()) for row in connection.execute(query)]


def captures(control: ControlStore, job_id: str) -> list[str]:
    """Return the captures that the journal of a job names."""
    named = (SCAN_JOURNAL.c.job_id == job_id, SCAN_JOURNAL.c.capture_id.is_not(None))
    with control.read() as connection:
        return list(connection.execute(select(SCAN_JOURNAL.c.capture_id).where(*named)).scalars())


def next_position(control: ControlStore, job_id: str, run_number: int) -> int:
    """Return the position of the next row of a run."""
    last = select(func.max(SCAN_JOURNAL.c.position)).where(
        SCAN_JOURNAL.c.job_id == job_id, SCAN_JOURNAL.c.run_number == run_number
    )
    with control.read() as connection:
        position = connection.execute(last).scalar()
    return 0 if position is None else int(position) + 1


def rename_captures(control: ControlStore, job_id: str, renamed: Mapping[str, str]) -> None:
    """Give captures of the journal other ids, from old to new."""
    with control.write() as connection:
        for before, after in renamed.items():
            connection.execute(
                update(SCAN_JOURNAL)
                .where(SCAN_JOURNAL.c.job_id == job_id, SCAN_JOURNAL.c.capture_id == before)
                .values(capture_id=after)
            )


def drop(control: ControlStore, job_id: str) -> None:
    """Delete the journal of a job."""
    with control.write() as connection:
        connection.execute(delete(SCAN_JOURNAL).where(SCAN_JOURNAL.c.job_id == job_id))


def save_preview(control: ControlStore, job_id: str, document: bytes, *, run_number: int) -> None:
    """Replace the preview of a job, if this run still holds it."""
    held = select(JOBS.c.job_id).where(
        JOBS.c.job_id == job_id, JOBS.c.run_number == run_number, JOBS.c.status == "running"
    )
    values = {"job_id": job_id, "updated_at": control.now(), "document": document}
    with control.write() as connection:
        if connection.execute(held).first() is not None:
            connection.execute(delete(SCAN_PREVIEWS).where(SCAN_PREVIEWS.c.job_id == job_id))
            connection.execute(insert(SCAN_PREVIEWS).values(values))


def read_preview(control: ControlStore, job_id: str) -> StoredPreview | None:
    """Return the preview of a running job, or None."""
    query = select(SCAN_PREVIEWS).where(SCAN_PREVIEWS.c.job_id == job_id)
    with control.read() as connection:
        row = connection.execute(query).first()
    if row is None:
        return None
    return StoredPreview(datetime.fromtimestamp(row.updated_at, UTC), row.document)


def delete_scan_rows(connection: Connection, job_id: str) -> None:
    """Delete the journal and the preview of a job."""
    for table in (SCAN_JOURNAL, SCAN_PREVIEWS):
        connection.execute(delete(table).where(table.c.job_id == job_id))
