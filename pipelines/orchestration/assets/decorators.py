"""The common settings of all scan assets."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import dagster as dg
from dagster import AssetKey, AssetsDefinition, AssetSpec, MaterializeResult, asset, multi_asset

from pipelines.orchestration.partitions import tracks
from pipelines.scan.scan_run import ScanRun
from pipelines.scan.state.scan_state import CHECKPOINTS
from warehouse.records.coverage import merge_coverage
from warehouse.records.videos import Track

# Metadata of a run for Dagster's UI. Conversion only.
#
# Text from outside is shown as text, never as markup: titles go through `MetadataValue.text`.

type RunMetadata = dict[str, Any]  # what Dagster converts; its own name for it is private

ROWS = "rows"
"""Name of the count of rows that a step wrote to its table."""
_COVERAGE_COUNTS = ("requests", "pages", "items", "new_items", "foreign_rows")
_COVERAGE_COLUMNS = dg.TableSchema(
    columns=[
        dg.TableColumn("surface", "string"),
        *(dg.TableColumn(name, "int") for name in _COVERAGE_COUNTS),
        dg.TableColumn("stop_reason", "string"),
    ]
)


def track_metadata(run: ScanRun, track: Track) -> RunMetadata:
    """Return the track of a run, with links to the job and the public page."""
    # The job in the console, or its API path if no console address is configured.
    job: dg.PathMetadataValue | dg.UrlMetadataValue = dg.MetadataValue.path(run.job_path)
    console_url = run.runtime.settings.console_url
    if console_url is not None:
        job = dg.MetadataValue.url(f"{console_url.rstrip('/')}/console#/job/{run.job.job_id}")
    return {
        "music_id": dg.MetadataValue.text(track.music_id),
        "title": dg.MetadataValue.text(track.title or "(no title)"),
        "job": job,
        "public_page": dg.MetadataValue.url(
            run.runtime.profile.address("public_music", music_id=track.music_id)
        ),
        "is_demo_data": run.runtime.is_demo,
    }


def coverage_metadata(run: ScanRun) -> RunMetadata:
    """Return the coverage report so far as a table."""
    records = [
        dg.TableRecord(
            {
                "surface": entry.surface,
                **{name: getattr(entry, name) for name in _COVERAGE_COUNTS},
                "stop_reason": entry.stop_reason,
            }
        )
        for entry in merge_coverage(run.state.coverage_report)
    ]
    return {
        "requests_used": run.captures.requests_used,
        "coverage": dg.MetadataValue.table(records=records, schema=_COVERAGE_COLUMNS),
    }


def step_metadata(run: ScanRun, counts: Mapping[str, int]) -> RunMetadata:
    """Return the counts of a step, with its rows as Dagster's row count, and its checkpoint.

    The checkpoint says where the state after the step is kept, for `CHECKPOINT_RETENTION_DAYS`.
    """
    named = {"dagster/row_count" if name == ROWS else name: n for name, n in counts.items()}
    checkpoint = f"job_id {run.job.job_id}, number {run.state.checkpoint}"
    return {**named, "checkpoint": dg.MetadataValue.text(f"{CHECKPOINTS}: {checkpoint}")}


# Groups follow the flow, so that the Lineage page reads from left to right: what a scan collects,
# the tables of the lake, what it concludes from them. A cycle of groups would be drawn backwards.
COLLECT = "collect"
CONCLUDE = "conclude"
SCAN_GROUPS = (COLLECT, CONCLUDE)
OWNERS = ["team:sametrack"]
KINDS = {"delta"}
READS_PLATFORM = {"delta", "http"}
"""Assets that request something of the platform or the chart."""

COMPARES_SOUNDS = {"delta", "numpy"}
"""Assets whose rows come from comparing sounds."""

RUNS_SQL = {"delta", "duckdb", "sql"}
"""Assets whose rows a SQL model makes."""

Result = MaterializeResult[Any]  # of no value; Dagster refuses None here, and a `type` statement


def scan_asset(
    key: AssetKey,
    *,
    deps: Sequence[AssetKey] = (),
    group: str = COLLECT,
    kinds: Collection[str] = KINDS,
) -> Callable[[Callable[..., Result]], AssetsDefinition]:
    """Declare an asset of the scan graph, with one partition per track."""
    return asset(
        key=key,
        deps=list(deps),
        partitions_def=tracks,
        group_name=group,
        owners=OWNERS,
        kinds=set(kinds),
    )


def scan_assets(
    name: str, *specs: AssetSpec
) -> Callable[[Callable[..., Iterator[Result]]], AssetsDefinition]:
    """Declare the assets that one step of the scan graph yields together."""
    return multi_asset(name=name, partitions_def=tracks, specs=specs)
