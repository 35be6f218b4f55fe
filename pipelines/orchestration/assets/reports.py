"""Assets of reports: each notebook of `notebooks/reports/` as a page, parameters as run config.

Not here: the content of a report (its notebook), rendering (`pipelines/reports`).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import dagster as dg

from pipelines.orchestration.assets.decorators import OWNERS, Result, RunMetadata
from pipelines.orchestration.assets.tables import asset_key
from pipelines.orchestration.failures import reasons_as_failures, to_failure
from pipelines.orchestration.resources import PublishingResource, ReportResource
from pipelines.reports.catalogue import Notebook, read_catalogue
from warehouse.exports.published_database import LAYER
from warehouse.records.errors import NothingToReportError, SametrackError
from warehouse.tables import TABLES

if TYPE_CHECKING:
    from pipelines.reports.build import RenderedReport


GROUP = "reports"
_AS_OF = "a date or time: only data committed until then; empty: the newest commit"
_PDF = "also as PDF; needs Chromium"
_LANGUAGE = "language of the page: en or zh"
_FILES_SCHEMA = dg.TableSchema(
    columns=[
        dg.TableColumn("file", "string", description="table of the report, as CSV"),
        dg.TableColumn("size_bytes", "int", description="file size [bytes]"),
    ]
)
"""The schema of the list of CSV files: the page itself is not a table."""


def _asset_of(notebook: Notebook) -> dg.AssetsDefinition:
    """Return the asset of a report; its run config has the notebook's parameters and three more."""
    config_schema = {
        parameter.name: dg.Field(
            parameter.type,
            default_value=parameter.default,
            is_required=False,
            description=parameter.meaning,
        )
        for parameter in notebook.parameters
    } | {
        "as_of": dg.Field(str, default_value="", is_required=False, description=_AS_OF),
        "language": dg.Field(str, default_value="en", is_required=False, description=_LANGUAGE),
        "with_pdf": dg.Field(bool, default_value=False, is_required=False, description=_PDF),
    }

    @dg.asset(
        key=dg.AssetKey(["reports", notebook.name]),
        deps=[dg.AssetKey(name.split(".")) for name in notebook.reads],
        group_name=GROUP,
        owners=OWNERS,
        kinds={"jupyter", "html"},
        metadata={"dagster/column_schema": _FILES_SCHEMA},
        description=f"{notebook.title}: {notebook.purpose}",
        config_schema=config_schema,
        output_required=False,
    )
    def page(
        context: dg.AssetExecutionContext, reports: dg.ResourceParam[ReportResource]
    ) -> Iterator[Result]:
        config = dict(context.op_execution_context.op_config)
        has_defaults = not config["as_of"] and all(
            config[parameter.name] == parameter.default for parameter in notebook.parameters
        )
        try:
            report = reports.make(notebook, config, run_id=context.run.run_id)
        except SametrackError as error:
            if not isinstance(error, NothingToReportError) or not has_defaults:
                raise to_failure(error) from error
            # With default parameters there may be no data yet: not an error of a scheduled run.
            context.log.warning("no report: %s", error)
            return
        yield dg.MaterializeResult(metadata=_metadata(report))

    return page


def _metadata(report: "RenderedReport") -> RunMetadata:
    records = [
        dg.TableRecord({"file": table.name, "size_bytes": table.stat().st_size})
        for table in report.tables
    ]
    metadata: RunMetadata = {
        "page": _place(report.page),
        "size_bytes": dg.MetadataValue.int(report.page.stat().st_size),
        "tables": dg.MetadataValue.table(records=records, schema=_FILES_SCHEMA),
        "is_demo_data": dg.MetadataValue.bool(report.is_demo),
    }
    return metadata if report.pdf is None else {**metadata, "pdf": _place(report.pdf)}


def _place(file: Path) -> dg.TextMetadataValue:
    """Return the location of a file without absolute paths."""
    return dg.MetadataValue.text(f"reports/{file.name} in the home of this world")


REPORTS = tuple(_asset_of(notebook) for notebook in read_catalogue())


# The asset of the published database: all marts as one DuckDB file for other tools.

DATABASE = dg.AssetKey(["published", "database"])


MARTS = [asset_key(table) for table in TABLES if table.name.startswith(f"{LAYER}.")]
_ABOUT = dg.TableSchema(
    columns=[
        dg.TableColumn("name", "text", description="property: world, is_demo_data, as_of, ..."),
        dg.TableColumn("value", "text", description="its value for this file"),
    ],
    constraints=dg.TableConstraints(other=["the table `main.about`; the marts are as in the lake"]),
)


@dg.asset(
    key=DATABASE,
    deps=MARTS,
    metadata={"dagster/column_schema": _ABOUT},
    group_name="publishing",
    owners=OWNERS,
    kinds={"duckdb"},
)
def database(publishing: dg.ResourceParam[PublishingResource]) -> Result:
    """All marts as one DuckDB file, every table and column with its comment."""
    with reasons_as_failures():
        published = publishing.publish()
    return dg.MaterializeResult(
        metadata={
            "dagster/row_count": sum(published.row_counts.values()),
            "file": dg.MetadataValue.text(
                f"published/{published.path.name} in the home of this world"
            ),
            "size_bytes": published.size_bytes,
            "rows_by_table": dg.MetadataValue.json(dict(published.row_counts)),
        }
    )
