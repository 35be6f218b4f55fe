"""Catalogues in Dagster: one partition each, an asset that requests a run, its job and its sensor.

The workers carry out a requested run, a few scans at a time; nothing waits for it here. Not here:
the rules and the work (`pipelines/catalog`).
"""

import dagster as dg

from pipelines.catalog.rules import TRACK_STATES
from pipelines.orchestration.assets.decorators import OWNERS, Result
from pipelines.orchestration.failures import reasons_as_failures
from pipelines.orchestration.resources import CatalogResource
from warehouse.records.errors import ProfileNotChosenError

CATALOG_RUNS = dg.AssetKey(["raw", "catalog_runs"])
GROUP = "catalogs"
SENSOR_INTERVAL_S = 30

catalogs = dg.DynamicPartitionsDefinition(name="catalogs")
"""One partition per catalogue, by its name."""


_COLUMNS = ("track_count", "due_count", *TRACK_STATES)
SCHEMA = dg.TableSchema(columns=[dg.TableColumn(name, "int") for name in _COLUMNS])
"""One row per run: the counts in its metadata."""


@dg.asset(
    key=CATALOG_RUNS,
    partitions_def=catalogs,
    group_name=GROUP,
    owners=OWNERS,
    metadata={"dagster/column_schema": SCHEMA},
    kinds={"sqlite"},
)
def catalog_runs(
    context: dg.AssetExecutionContext, catalog: dg.ResourceParam[CatalogResource]
) -> Result:
    """Requested runs of a catalogue: the workers scan its due tracks within the day's budget."""
    with reasons_as_failures():
        status = catalog.request_run(context.partition_key)
    return Result(
        metadata={
            "track_count": dg.MetadataValue.int(len(status.tracks)),
            "due_count": dg.MetadataValue.int(len(status.due)),
            **{state: dg.MetadataValue.int(count) for state, count in status.states.items()},
        }
    )


run_catalog = dg.define_asset_job(
    "run_catalog",
    selection=dg.AssetSelection.assets(CATALOG_RUNS).without_checks(),
    description="Request a run of one or more catalogues: choose their partitions. A worker scans "
    "what is due; a run that is under way goes on.",
)


@dg.sensor(
    name="catalogs",
    job=run_catalog,
    minimum_interval_seconds=SENSOR_INTERVAL_S,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Keeps one partition per catalogue. Launches nothing.",
)
def catalog_partitions(
    context: dg.SensorEvaluationContext, catalog: dg.ResourceParam[CatalogResource]
) -> dg.SensorResult | dg.SkipReason:
    """Add the partitions of new catalogues and delete those of removed ones."""
    try:
        names = set(catalog.names())
    except ProfileNotChosenError as error:
        return dg.SkipReason(error.detail)
    partitions = set(context.instance.get_dynamic_partitions(catalogs.name or ""))
    requests: list[dg.AddDynamicPartitionsRequest | dg.DeleteDynamicPartitionsRequest] = []
    if names - partitions:
        requests.append(catalogs.build_add_request(sorted(names - partitions)))
    if partitions - names:
        requests.append(catalogs.build_delete_request(sorted(partitions - names)))
    return dg.SensorResult(dynamic_partitions_requests=requests)
