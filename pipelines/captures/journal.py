"""The journal of a scan: a restarted run replays the calls of its earlier runs.

Each call is written before its result is returned, so after a kill only the interrupted call is
made again. Calls with one key are replayed in the order in which they were made, each once.
"""

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from pydantic import TypeAdapter

from warehouse.control import ControlStore, scan_journal
from warehouse.control.scan_journal import JournalRow
from warehouse.lake.record_rows import pack_bytes, unpack_bytes

_AFTER_EVERYTHING = 2**31 - 1


def sound_key(aweme_id: str) -> str:
    """Return the key of a download in the journal."""
    return f"media\x1f{aweme_id}"


def measured_key(aweme_id: str) -> str:
    """Return the journal key of a sound's measured features."""
    return f"measured\x1f{aweme_id}"


class ScanJournal:
    """The journal of one run. `checkpoint` is the number of the checkpoint that it began with."""

    def __init__(
        self, store: ControlStore, job_id: str, *, run_number: int, checkpoint: int
    ) -> None:
        self._store = store
        self._job_id = job_id
        self._run_number = run_number
        self._checkpoint = checkpoint
        self._position = scan_journal.next_position(store, job_id, run_number)
        self._recorded: defaultdict[str, deque[JournalRow]] = defaultdict(deque)
        for row in scan_journal.read(store, job_id, since=checkpoint):
            self._recorded[row.key].append(_decompressed(row))

    def captures(self) -> list[str]:
        """Return the captures of all runs of this job, written to the lake or not."""
        return scan_journal.captures(self._store, self._job_id)

    def rename_captures(self, renamed: Mapping[str, str]) -> list[JournalRow]:
        """Give captures other ids; return their rows, with the new ids."""
        if not renamed:
            return []
        scan_journal.rename_captures(self._store, self._job_id, renamed)
        ids = set(renamed.values())
        rows = scan_journal.read(
            self._store, self._job_id, since=_AFTER_EVERYTHING, captures=tuple(ids)
        )
        return [_decompressed(row) for row in rows]

    def has(self, key: str) -> bool:
        """Whether an earlier run has read this, and it was not given yet."""
        return bool(self._recorded.get(key))

    def take(self, key: str) -> JournalRow | None:
        """Return what an earlier run has read under this key, each row once; None if nothing."""
        return self._recorded[key].popleft() if self.has(key) else None

    def advance(self, checkpoint: int) -> None:
        """Go on to the next checkpoint: what was read before it is part of the state."""
        self._checkpoint = checkpoint
        for key, rows in list(self._recorded.items()):
            remaining = deque(row for row in rows if row.checkpoint >= checkpoint)
            if remaining:
                self._recorded[key] = remaining
            else:
                del self._recorded[key]

    async def record(
        self, key: str, document: bytes, *, body: bytes | None = None, capture_id: str | None = None
    ) -> None:
        """Write what was read under this key.

        Raises:
            WarehouseError: The control store cannot be written.
        """
        row = self._next_row(key, document, body, capture_id)
        # Shielded: a position that was given out is written even if the caller is cancelled.
        await asyncio.shield(asyncio.to_thread(self._write, row))

    def once[T](self, key: str, kind: TypeAdapter[T], compute: Callable[[], T]) -> T:
        """Return what an earlier run computed, or compute and write it.

        For queries whose result the captures of this very scan would change.
        """
        row = self.take(key)
        if row is not None:
            return kind.validate_json(row.document)
        value = compute()
        self._write(self._next_row(key, kind.dump_json(value), None, None))
        return value

    def _next_row(
        self, key: str, document: bytes, body: bytes | None, capture_id: str | None
    ) -> JournalRow:
        position, self._position = self._position, self._position + 1
        return JournalRow(
            job_id=self._job_id,
            run_number=self._run_number,
            position=position,
            checkpoint=self._checkpoint,
            key=key,
            capture_id=capture_id,
            document=document,
            body=body,
        )

    def _write(self, row: JournalRow) -> None:
        body = None if row.body is None else pack_bytes(row.body)
        scan_journal.append(self._store, replace(row, document=pack_bytes(row.document), body=body))


def missing_captures(named: Sequence[str], stored: Collection[str]) -> list[str]:
    """Return the captures of a journal that the lake does not have, each once."""
    return [capture_id for capture_id in dict.fromkeys(named) if capture_id not in stored]


def _decompressed(row: JournalRow) -> JournalRow:
    body = None if row.body is None else unpack_bytes(row.body)
    return replace(row, document=unpack_bytes(row.document), body=body)
