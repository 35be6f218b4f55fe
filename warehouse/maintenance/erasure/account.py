"""Erasure of an account from the stores of a world.

The marks are written first, so that every later capture drops the account. The search is repeated,
because a capture that began earlier may still write rows of it.
"""

import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from warehouse.control import ControlStore, erasure, job_claims, jobs
from warehouse.engine.duckdb_engine import Engine
from warehouse.home.folder import Home
from warehouse.lake.store import Lake
from warehouse.maintenance.erasure.files import (
    ErasureProof,
    erase_files,
    search_files,
    search_tables,
)
from warehouse.maintenance.erasure.names import AccountNames, find_account_names, to_pattern
from warehouse.maintenance.erasure.rows import erase_rows
from warehouse.queries.accounts import read_marks
from warehouse.records.erasure import erasure_mark
from warehouse.records.errors import WarehouseUnavailableError

ERASURE_ROUNDS = 3


@dataclass(slots=True)
class ErasureResult:
    """Counts of removed rows and files, and the proof. It contains no names."""

    erasure_id: str
    rows: dict[str, int] = field(default_factory=dict)
    results: int = 0
    control_rows: dict[str, int] = field(default_factory=dict)
    files: int = 0
    runs: int = 0
    proof: ErasureProof = field(default_factory=lambda: ErasureProof(0, 0, ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureStores:
    """The open stores of a world.

    `forget_runs` removes the orchestrator's runs that name the account.
    """

    home: Home
    lake: Lake
    engine: Engine
    control: ControlStore
    forget_runs: Callable[[AccountNames], int] = lambda _names: 0


def erase_account(stores: ErasureStores, sec_uid: str) -> ErasureResult:
    """Erase an account from all stores, then search for it.

    Raises:
        WarehouseError: A store cannot be read or rewritten. What is erased so far stays erased;
            calling again continues.
    """
    result = ErasureResult(uuid4().hex)
    names, marked = AccountNames(sec_uid=sec_uid), frozenset[str]()
    # Rows of a capture that was being written when the marks appeared are found by another round.
    for _ in range(ERASURE_ROUNDS):
        names = names.with_more(find_account_names(stores.engine, sec_uid))
        if names.marked - marked:
            # Before anything is deleted, so that no capture stores the account again meanwhile.
            _mark(stores, result.erasure_id, names.marked - marked)
            marked |= names.marked
        _erase_once(stores, names, result)
        result.proof = search(stores, names)
        if result.proof.is_clean:
            break
    return result


def search(stores: ErasureStores, names: AccountNames) -> ErasureProof:
    """Search all files of a world, and a lake outside its home.

    In an object store every cell is searched. The sandbox's own sounds are not searched.
    """
    root, lake = stores.home.root, stores.lake
    pattern = to_pattern(names.ids)
    proof = search_files(root, pattern, but=(stores.home.cache_dir / "sounds",))
    if lake.is_remote:
        return proof.plus(search_tables(stores.engine, pattern))
    is_elsewhere = not Path(lake.url).is_relative_to(root)
    return proof.plus(search_files(Path(lake.url), pattern)) if is_elsewhere else proof


def _mark(stores: ErasureStores, erasure_id: str, names: Iterable[str]) -> None:
    """Write marks of ids and titles.

    All erasures share one salt: each salt slows every check of a body.
    """
    salt = next(iter(read_marks(stores.engine).by_salt), None) or secrets.token_hex(16)
    row: dict[str, object] = {
        "erasure_id": erasure_id,
        "salt": salt,
        "marks": sorted(erasure_mark(salt, name) for name in names),
        "erased_at": datetime.now(UTC),
    }
    stores.lake.append("raw.erasures", [row])


def _erase_once(stores: ErasureStores, names: AccountNames, result: ErasureResult) -> None:
    # The lake first: its rows say which jobs have a result that names the account.
    rows, job_ids = erase_rows(stores.lake, stores.engine, names)
    for table_name, count in rows.items():
        result.rows[table_name] = result.rows.get(table_name, 0) + count
    result.results += len(job_ids)
    stores.engine.video_index.drop()  # maintenance rebuilds it
    for table in stores.lake.tables:
        # Older versions may hold rows of the account, also of a table that has no such row now.
        if stores.lake.version(table.name) > 0:  # otherwise it never had a row
            stores.lake.forget(table.name)
    # Then the control store, the orchestrator's runs and the files.
    control_rows = erasure.erase(stores.control, to_pattern(names.ids), job_ids=job_ids)
    for table_name, count in control_rows.items():
        result.control_rows[table_name] = result.control_rows.get(table_name, 0) + count
    result.runs += stores.forget_runs(names)
    pattern = to_pattern(names.ids | names.texts)
    result.files += erase_files(stores.home, pattern, sounds=names.sounds)
    stores.engine.refresh()


def check_idle(control: ControlStore, *, within_s: float) -> None:
    """Refuse while a worker is alive or a job runs: it has data of the account in memory.

    A running job without a heartbeat was left by a worker that was killed: it has no memory.

    Raises:
        WarehouseUnavailableError: A worker is alive or a job runs.
    """
    lost = {job.job_id for job in job_claims.lost(control, within_s)}
    running = jobs.newest(control, limit=len(lost) + 1, status="running")
    if job_claims.live_workers(control, within_s) or any(job.job_id not in lost for job in running):
        raise WarehouseUnavailableError(
            "a worker is running, and has in memory what would be erased",
            hint="stop it (Ctrl-C where `sametrack up` or `sametrack worker` runs), then erase",
            retry_after=within_s,
        )
