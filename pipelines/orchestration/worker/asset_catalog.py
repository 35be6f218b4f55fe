"""Report rows that were written outside of a run to Dagster's asset catalog.

A run reports what it writes. What the API refreshes (profiles, posts, lists, hashtags, the chart),
annotations, dismissed common sounds and erasures have no run, so a thread of the worker compares
each table with the catalog and reports one runless materialization per table and round. The catalog
itself holds which version was reported last, so nothing else is stored, and a failed report is
repeated.
Not here: the observations of whole tables (`checks/tables.py`).
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

import dagster as dg
import structlog

from pipelines.open_stores import open_chosen_home, open_control_of, open_lake_of
from pipelines.orchestration.assets.decorators import RunMetadata
from pipelines.orchestration.assets.tables import asset_key
from pipelines.orchestration.runs.open_instance import open_instance
from pipelines.settings import Settings
from warehouse.control import ControlStore, leases
from warehouse.lake.store import WRITE_TEST
from warehouse.records.values import Row
from warehouse.tables import BY_NAME

WRITTEN_OUTSIDE_RUNS = (
    "raw.payloads",
    "raw.captures",
    "raw.capture_items",
    "raw.tracks",
    "raw.videos",
    "raw.accounts",
    "raw.hashtags",
    "raw.search_pages",
    "raw.chart_issues",
    "raw.chart_songs",
    "raw.erasures",
    "marts.chart_links",
    "marts.annotations",
    "marts.common_sounds",
    "marts.surface_health",
)
"""The tables that not only runs append to."""

_OF_OTHER_RUNS = frozenset({"raw.chart_issues", "raw.chart_songs", "marts.surface_health"})
"""Of them, those that runs without a job write, too: their commits do not name a run."""

EVERY_S = 45.0
"""Less than the minute that is promised: reporting takes time too."""

LEASE = "asset-catalog"
LEASE_S = 55.0  # longer than `EVERY_S`, so that its holder renews it in time
POLL_S = 5.0
"""How often the thread tries; so soon another worker goes on after a lost one's lease ends."""

MOST_COMMITS = 1000
"""Commits of a table that one round reads; after a long pause only the newest count."""

VERSION = "delta_version"
_APPEND = "WRITE"  # Delta's name of an append; compaction and deletion have others
log = structlog.get_logger(__name__)


class TableVersions(Protocol):
    """The methods of the lake that a reporter needs."""

    def version(self, name: str) -> int: ...

    def log_since(self, name: str, version: int) -> list[Row]: ...

    def row_count(self, name: str) -> int | None: ...


class AssetCatalog(Protocol):
    """The methods of the Dagster instance that a reporter needs."""

    def get_latest_materialization_event(
        self, asset_key: dg.AssetKey
    ) -> dg.EventLogEntry | None: ...

    def report_runless_asset_event(self, asset_event: dg.AssetMaterialization) -> None: ...


@dataclass(slots=True)
class CatalogReporter:
    """Reports changed tables: `step` may be called at any time, and works when it is due.

    `compared` has the version of each table up to which the catalog is known to be complete.
    """

    owner: str
    lake: TableVersions
    control: ControlStore
    catalog: AssetCatalog
    clock: Callable[[], float] = time.monotonic
    compared: dict[str, int] = field(default_factory=dict)
    _due_at: float = float("-inf")

    def step(self) -> None:
        """Compare all tables, if that is due and no other worker does it. Raises nothing."""
        now = self.clock()
        if now < self._due_at:
            return
        try:
            is_ours = leases.acquire(self.control, LEASE, self.owner, LEASE_S)
        except Exception:
            log.exception("asset catalog not compared")
            self._due_at = now + EVERY_S
            return
        if not is_ours:
            self.compared.clear()  # another worker reports meanwhile, so this is out of date
            return
        self._due_at = now + EVERY_S
        for name in WRITTEN_OUTSIDE_RUNS:
            try:
                self._compare(name)
            except Exception:  # the other tables are compared, and this one again next time
                log.exception("table not reported to the asset catalog", table=name)

    def close(self) -> None:
        """Release the lease, so that another worker can go on at once."""
        try:
            leases.release(self.control, LEASE, self.owner)
        except Exception:
            log.exception("lease of the asset catalog not released")

    def _compare(self, name: str) -> None:
        version = self.lake.version(name)
        if self.compared.get(name) == version:
            return
        key = asset_key(BY_NAME[name])
        event = self.catalog.get_latest_materialization_event(key)
        commits = self._unreported_appends(name, event, version)
        if commits:
            committed_at = datetime.fromtimestamp(max(map(_milliseconds, commits)) / 1000, UTC)
            row_counts = [commit["operationMetrics"]["num_added_rows"] for commit in commits]
            metadata: RunMetadata = {
                VERSION: dg.MetadataValue.int(version),
                "committed_at": dg.MetadataValue.timestamp(committed_at),
                "rows_added": dg.MetadataValue.int(sum(map(int, row_counts))),
            }
            row_count = self.lake.row_count(name)
            if row_count is not None:
                metadata["dagster/row_count"] = dg.MetadataValue.int(row_count)
            self.catalog.report_runless_asset_event(dg.AssetMaterialization(key, metadata=metadata))
            log.info("table reported to the asset catalog", table=name, version=version)
        self.compared[name] = version

    def _unreported_appends(
        self, name: str, event: dg.EventLogEntry | None, version: int
    ) -> list[Row]:
        """Return the appends outside of jobs that are newer than the last materialization."""
        # The version that the last materialization states; that of a run states none.
        materialization = None if event is None else event.asset_materialization
        stated = None if materialization is None else materialization.metadata.get(VERSION)
        reported = stated.value if isinstance(stated, dg.IntMetadataValue) else None
        since = max(self.compared.get(name, 0), reported or 0, version - MOST_COMMITS)
        # A run reports after its last commit, so its commits are older than its materialization. If
        # only runs of jobs write to a table, its commits name their job; that suffices where the
        # last comparison is known.
        is_of_run = event is not None and reported is None
        is_by_time = is_of_run and (name in _OF_OTHER_RUNS or name not in self.compared)
        # Dagster's times are in seconds, those of a Delta log in milliseconds.
        after_ms = event.timestamp * 1000 if event is not None and is_by_time else 0
        return [
            commit
            for commit in self.lake.log_since(name, since)
            if commit["operation"] == _APPEND
            and "job_id" not in commit
            and WRITE_TEST not in commit  # of the doctor: the table is no fresher for it
            and _milliseconds(commit) > after_ms
        ]


def _milliseconds(commit: Row) -> int:
    stamp = commit["timestamp"]
    assert isinstance(stamp, int)
    return stamp


def report_assets(settings: Settings, owner: str, stop: threading.Event) -> None:
    """Report on stores and an instance of their own, until the event is set."""
    while not stop.wait(POLL_S):
        try:
            home = open_chosen_home(settings)
            with open_control_of(settings, home) as control, open_instance(home) as instance:
                reporter = CatalogReporter(
                    owner=owner,
                    lake=open_lake_of(settings, home),
                    control=control,
                    catalog=instance,
                )
                reporter.step()
                while not stop.wait(POLL_S):
                    reporter.step()
                reporter.close()
        except Exception:  # a store could not be opened: try again after a pause
            log.exception("asset catalog not opened")
