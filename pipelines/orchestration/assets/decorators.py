"""The common settings of all scan assets."""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from dagster import AssetKey, AssetsDefinition, AssetSpec, MaterializeResult, asset, multi_asset

from pipelines.orchestration.partitions import tracks

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
