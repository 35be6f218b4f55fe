"""Compared pairs, reads of a job, time series, storage usage, and exports of tables as files."""

from functools import partial
from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import Field, StrictBool, StrictInt
from starlette.responses import Response

from api.params.fields import PrintableText, QueryModel, parameter_field
from api.responses.envelope import JsonResponse, conditional_response, record_parameters
from api.responses.errors import OK, NotFoundError
from api.routes.dependencies import EvidenceDep, ScanServiceDep, SourcesDep, check_query
from api.routes.extensions.entities import EntityId
from api.routes.jobs import JobId
from api.schemas import responses
from api.schemas.extensions import exports
from api.services.exports.file_names import attachment_headers
from api.services.exports.source_reader import check_source, fetch_source, owner_of
from api.services.exports.table_view import TableView
from api.services.exports.tables import TableName, build_file, subject_of
from api.services.job_document import scan_job_id, to_scan_parameters
from api.services.series import read_series
from api.services.storage import measure_storage
from pipelines.documents.result_plots import build_plots
from pipelines.documents.result_types import LinkType, SearchRelevance
from pipelines.documents.videos import to_document
from pipelines.reads.series import SeriesKind
from pipelines.scan.rules.audio_checks import deciding_pairs
from warehouse.control import hosts
from warehouse.exports.error_sheet import SheetLanguage
from warehouse.exports.table_files import TableFormat
from warehouse.home import open_home
from warehouse.queries.captures import read_so_far
from warehouse.records.evidence import Verdict
from warehouse.records.values import Document

router = APIRouter(tags=["Sametrack"], dependencies=[Depends(check_query)])
exporting = APIRouter(tags=["Sametrack"], dependencies=[Depends(check_query)])

MAX_SOURCE_LENGTH = 1000
_OBJECTS: Document = {"type": "array", "items": {"type": "object"}}
_JSON_FILE: Document = {
    "type": "object",
    "required": ["table", "method", "rows"],
    "properties": {
        "table": {"type": "string"},
        "method": {"type": "object", "additionalProperties": {"type": "string"}},
        "rows": _OBJECTS,
        "coverage": _OBJECTS,
    },
}
# Those of an export, and of every operation that can be exported.
_EXPORT_ERRORS = (
    *responses.PARAMETER_ERRORS,
    "job_not_found",
    "not_found",
    "invalid_date_range",
    *responses.PLATFORM_ERRORS,
    "chart_unavailable",
    *responses.UPSTREAM_ERRORS,
    *responses.DEVICE_ERRORS,
)


_ViewText = Annotated[PrintableText, Field(min_length=1, max_length=MAX_SOURCE_LENGTH)]
_EQUAL = ("link_type", "source_music_id", "search_relevance_level", "verdict")


class TableViewQuery(QueryModel):
    """What is shown of the rows and columns of a table."""

    columns: _ViewText | None = Field(
        None,
        description="names of the columns, separated by commas; omitted: all. "
        "列名，以逗号分隔，省略则为全部",
    )
    order: _ViewText | None = Field(
        None,
        description="column to sort by, with `-` before it for the largest first; unknown values "
        "are last. 排序列，前加 - 为降序，未知值在后",
    )
    link_type: LinkType | None = Field(
        None, description="only videos that are linked this way. 仅含该关联方式的作品"
    )
    source_music_id: _ViewText | None = Field(
        None, description="only videos that use this music id. 仅含使用该音乐 ID 的作品"
    )
    account: _ViewText | None = Field(
        None,
        description="only accounts with this text in name, handle or id. "
        "仅含名称、账号名或 ID 中有此文字的账号",
    )

    def to_table_view(self) -> TableView:
        """Return the view of a table."""
        equal = ((name, getattr(self, name, None)) for name in _EQUAL)
        return TableView(
            columns=self.columns,
            order=self.order,
            account=self.account,
            equal=tuple((name, value) for name, value in equal if value is not None),
        )


class ExportQuery(TableViewQuery):
    """Query of an export."""

    source: Annotated[PrintableText, Field(min_length=1, max_length=MAX_SOURCE_LENGTH)] = Field(
        description="path and query of the read operation to export. 要导出的读取接口（路径与参数）"
    )
    table: TableName = Field(description="table of the response. 表格名称")
    form: TableFormat = Field(description="file format. 文件格式")
    bom: StrictBool = Field(
        False,
        description="CSV for spreadsheets: marked, formulas escaped. 供表格软件使用的 CSV",
    )
    language: SheetLanguage | None = Field(
        None,
        description="language of the file's name, and of the headings in XLSX and in CSV for "
        "spreadsheets; omitted: names of columns. "
        "文件名与表头语言（表头仅限 XLSX 与供表格软件使用的 CSV），省略则为列名",
    )
    search_relevance_level: SearchRelevance | None = Field(
        None, description="only search results of this relevance. 仅含该相关度的搜索结果"
    )
    verdict: Verdict | None = Field(
        None, description="only pairs with this verdict. 仅含该结论的比对"
    )


class PlotsQuery(QueryModel):
    """Query of the plots of a job."""

    viral_threshold: StrictInt | None = parameter_field("viral_threshold", has_default=False)


@router.get(
    "/api/v1/sametrack/jobs/{job_id}/comparisons",
    summary="Compared pairs of a job",
    responses=responses.read_responses(
        exports.ComparisonList, "Compared pairs", *responses.JOB_ERRORS
    ),
)
def sametrack_job_comparisons(
    request: Request, job_id: JobId, scan_service: ScanServiceDep, evidence: EvidenceDep
) -> Response:
    """Return the evidence of every compared pair, rejected ones included. 任务的全部音频比对.

    Of a job that a stored result served: the pairs of the scan behind it (`scan_job_id`).
    """
    record_parameters(request.scope, {"job_id": job_id})
    pairs = evidence.pairs_of_job(scan_job_id(scan_service.job(job_id)))
    comparisons: exports.ComparisonList = {
        "job_id": job_id,
        "comparisons": pairs,
        "deciding_ids": [pair["comparison_id"] for pair in deciding_pairs(pairs).values()],
        "videos": evidence.videos_of(pairs),
        "returned_count": len(pairs),
        "is_demo_data": scan_service.world.is_demo,
    }
    return conditional_response(request.scope, comparisons)


@router.get(
    "/api/v1/sametrack/jobs/{job_id}/plots",
    summary="Plots of a job",
    responses=responses.read_responses(
        exports.JobPlots,
        "Points and findings",
        "invalid_parameter",
        *responses.JOB_ERRORS,
        "not_found",
    ),
)
def sametrack_job_plots(
    request: Request,
    job_id: JobId,
    query: Annotated[PlotsQuery, Query()],
    scan_service: ScanServiceDep,
) -> Response:
    """Return what the plots of a completed scan show, each with its finding. 任务图表.

    All confirmed videos are in them, whatever part of the ranking is shown. Answers 404 for a job
    without a ranking.
    """
    record_parameters(request.scope, {"job_id": job_id, **query.model_dump(exclude_none=True)})
    scan = scan_service.job(job_id)
    if scan.result is None or "kind" in scan.result:
        raise NotFoundError("The job has no ranking to draw")
    threshold = query.viral_threshold
    plots: exports.JobPlots = {
        **build_plots(
            scan.result["ranked"],
            scan.result["account_summary"]["accounts"],
            confirmed_count=scan.result["confirmed_count"],
            viral_threshold=to_scan_parameters(scan.job).viral_threshold
            if threshold is None
            else threshold,
        ),
        "job_id": job_id,
        "is_demo_data": scan_service.world.is_demo,
    }
    return conditional_response(request.scope, plots)


@router.get(
    "/api/v1/sametrack/jobs/{job_id}/reads",
    summary="Sources read so far by a job",
    responses=responses.read_responses(
        exports.JobReads, "Reads by surface and outcome", *responses.JOB_ERRORS
    ),
)
def sametrack_job_reads(
    request: Request, job_id: JobId, scan_service: ScanServiceDep, sources: SourcesDep
) -> Response:
    """Return reads by surface and outcome, updated while the scan runs. 已读取情况."""
    record_parameters(request.scope, {"job_id": job_id})
    scan_service.job(job_id)  # raises if the job does not exist
    reads = [to_document(exports.SurfaceReads, row) for row in read_so_far(sources.engine, job_id)]
    job_reads: exports.JobReads = {
        "job_id": job_id,
        "reads": reads,
        "is_demo_data": scan_service.world.is_demo,
    }
    return conditional_response(request.scope, job_reads)


@router.get(
    "/api/v1/sametrack/series/{kind}/{entity_id}",
    summary="Engagement over time",
    responses=responses.read_responses(
        exports.Series,
        "Points over time, oldest first",
        "invalid_parameter",
        *responses.READ_ERRORS,
        "not_found",
    ),
)
def sametrack_series(
    request: Request,
    kind: Annotated[SeriesKind, Path(description="kind of the id. ID 的种类")],
    entity_id: EntityId,
    sources: SourcesDep,
) -> Response:
    """Return all observations of a video, an account, or the videos of a track. 互动随时间变化.

    A track sums its confirmed videos. Gaps are not filled; a rounded count has its range.
    """
    record_parameters(request.scope, {"kind": kind, "entity_id": entity_id})
    series = read_series(sources.engine, kind, entity_id, is_demo=sources.is_demo)
    return conditional_response(request.scope, series)


@router.get(
    "/api/v1/sametrack/storage",
    summary="Storage and request budget",
    responses=responses.read_responses(
        exports.Storage, "Storage and request budget", *responses.READ_ERRORS
    ),
)
def sametrack_storage(request: Request, sources: SourcesDep) -> Response:
    """Return disk usage of the stores and today's requests per host. 存储占用与今日预算."""
    settings = sources.settings
    home = open_home(settings.data_home, sources.profile.name)
    storage = measure_storage(
        home.root,
        spent_today=hosts.spent_today(sources.control),
        daily_budget=settings.daily_request_budget,
        is_demo=sources.is_demo,
    )
    return conditional_response(request.scope, storage)


@exporting.get(
    "/api/v1/sametrack/export",
    summary="Export a table",
    responses={
        **responses.exported_file("The exported file", _JSON_FILE, "Retry-After"),
        **responses.error_responses(*_EXPORT_ERRORS),
    },
    response_class=Response,
)
async def sametrack_export(request: Request, query: Annotated[ExportQuery, Query()]) -> Response:
    """Export a table of a read operation as CSV, XLSX, Parquet or JSON. 导出表格.

    The file has the rows and columns of the view that the query names, and is named after what it
    holds. Ids stay text and no cell is a formula; XLSX has a sheet on method and coverage. Errors
    of the read operation and its `Retry-After` are passed on unchanged.
    """
    record_parameters(request.scope, query.model_dump())
    check_source(query.source, query.table)
    # The operation itself is called, so that a file shows exactly what the operation returns.
    read = await fetch_source(request.app, request.scope, query.source)
    if read.status != OK:
        return JsonResponse(read.envelope, status_code=read.status, headers=read.headers)
    # Compared pairs do not say of which track they are.
    title = None
    if owner := owner_of(query.source):
        job = await fetch_source(request.app, request.scope, owner)
        title = subject_of(job.envelope["data"].get("result") or {}, query.table)
    # In a thread, because a large table takes long to encode.
    build = partial(
        build_file,
        read.envelope,
        source=query.source,
        table=query.table,
        form=query.form,
        bom=query.bom,
        view=query.to_table_view(),
        language=query.language,
        title=title,
    )
    export = await run_sync(build)
    headers = {**attachment_headers(export.name), **read.headers}
    return Response(export.body, media_type=export.media_type, headers=headers)
