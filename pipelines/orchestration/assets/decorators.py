"""The common settings of all scan assets."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dagster import AssetKey, AssetsDefinition, AssetSpec, MaterializeResult, asset, multi_asset

from pipelines.orchestration.partitions import tracks

GROUP = "scan"
OWNERS = ["team:sametrack"]
KINDS = {"delta"}

Result = MaterializeResult[Any]  # of no value; Dagster refuses None here, and a `type` statement


def scan_asset(
    key: AssetKey, *, deps: Sequence[AssetKey] = (), group: str = GROUP
) -> Callable[[Callable[..., Result]], AssetsDefinition]:
    """Declare an asset of the scan graph, with one partition per track."""
    return asset(
        key=key,
        deps=list(deps),
        partitions_def=tracks,
        group_name=group,
        owners=OWNERS,
        kinds=KINDS,
    )


def scan_assets(
    name: str, *specs: AssetSpec
) -> Callable[[Callable[..., Iterator[Result]]], AssetsDefinition]:
    """Declare the assets that one step of the scan graph yields together."""
    return multi_asset(name=name, partitions_def=tracks, specs=specs)
