"""Assets of reports: each notebook of `notebooks/reports/` as a page, parameters as run config.

Not here: the content of a report (its notebook), rendering (`pipelines/reports`).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dagster import (
    AssetExecutionContext,
    AssetKey,
    AssetsDefinition,
    Field,
    MaterializeResult,
    MetadataValue,
    ResourceParam,
    TableColumn,
    TableRecord,
    TableSchema,
    TextMetadataValue,
    asset,
)

from pipelines.orchestration.assets.decorators import OWNERS, Result
from pipelines.orchestration.assets.metadata import RunMetadata
from pipelines.orchestration.failures import to_failure
from pipelines.orchestration.resources import ReportResource
from pipelines.reports.catalogue import Notebook, read_catalogue
from warehouse.records.errors import NothingToReportError, SametrackError

if TYPE_CHECKING:
    from pipelines.reports.build import RenderedReport

GROUP = "reports"
_AS_OF = "a date or time: only data committed until then; empty: the newest commit"
_PDF = "also as PDF; needs Chromium"
_LANGUAGE = "language of the page: en or zh"
_FILES_SCHEMA = TableSchema(
    columns=[
        TableColumn("file", "string", description="table of the report, as CSV"),
        TableColumn("size_bytes", "int", description="file size [bytes]"),
    ]
)
"""The schema of the list of CSV files: the page itself is not a table."""


def _schema(notebook: Notebook) -> dict[str, Field]:
    """Return the run config: the notebook's parameters, `as_of`, `language` and `with_pdf`."""
    given = {
        one.name: Field(
            one.type, default_value=one.default, is_required=False, description=one.meaning
        )
        for one in notebook.parameters
    }
    return given | {
        "as_of": Field(str, default_value="", is_required=False, description=_AS_OF),
        "language": Field(str, default_value="en", is_required=False, description=_LANGUAGE),
        "with_pdf": Field(bool, default_value=False, is_required=False, description=_PDF),
    }


def _asset_of(notebook: Notebook) -> AssetsDefinition:
    @asset(
        key=AssetKey(["reports", notebook.name]),
        deps=[AssetKey(name.split(".")) for name in notebook.reads],
        group_name=GROUP,
        owners=OWNERS,
        kinds={"jupyter", "html"},
        metadata={"dagster/column_schema": _FILES_SCHEMA},
        description=f"{notebook.title}: {notebook.purpose}",
        config_schema=_schema(notebook),
        output_required=False,
    )
    def page(
        context: AssetExecutionContext, reports: ResourceParam[ReportResource]
    ) -> Iterator[Result]:
        config = dict(context.op_execution_context.op_config)
        usual = {one.name: one.default for one in notebook.parameters}
        try:
            made = reports.make(notebook, config, run_id=context.run.run_id)
        except SametrackError as error:
            is_usual = all(config[name] == value for name, value in usual.items())
            if not isinstance(error, NothingToReportError) or not is_usual or config["as_of"]:
                raise to_failure(error) from error
            # With default parameters there may be no data yet: not an error of a scheduled run.
            context.log.warning("no report: %s", error)
            return
        yield MaterializeResult(metadata=_metadata(made))

    return page


def _metadata(made: "RenderedReport") -> RunMetadata:
    metadata: RunMetadata = {
        "page": _place(made.page),
        "size_bytes": MetadataValue.int(made.page.stat().st_size),
        "tables": MetadataValue.table(records=_records(made.tables), schema=_FILES_SCHEMA),
        "is_demo_data": MetadataValue.bool(made.is_demo),
    }
    return metadata if made.pdf is None else {**metadata, "pdf": _place(made.pdf)}


def _place(file: Path) -> TextMetadataValue:
    """Return the location of a file without absolute paths."""
    return MetadataValue.text(f"reports/{file.name} in the home of this world")


def _records(tables: Sequence[Path]) -> list[TableRecord]:
    return [TableRecord({"file": one.name, "size_bytes": one.stat().st_size}) for one in tables]


REPORTS = tuple(_asset_of(notebook) for notebook in read_catalogue())
