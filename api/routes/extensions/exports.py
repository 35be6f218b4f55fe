"""Compared pairs, reads of a job, time series, storage usage, and exports of tables as files."""

from functools import partial
from typing import Annotated, Literal

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import Field, StrictBool
from starlette.responses import Response

from api.params.fields import PrintableText, QueryModel
from api.responses.envelope import JsonResponse, conditional_response, record_parameters
from api.responses.errors import OK, NotFoundError
from api.routes.dependencies import EvidenceDep, ScanServiceDep, SourcesDep, check_query
from api.routes.extensions.entities import EntityId
from api.routes.jobs import JobId
from api.schemas import responses
from api.schemas.extensions import exports
from api.services.evidence.report_evidence import collect_report_evidence
from api.services.exports.source_reader import check_source, fetch_source
from api.services.exports.tables import TableName, build_file
from api.services.job_document import scan_job_id, to_job_document
from api.services.report.render import render_report
from api.services.series import read_series
from api.services.storage import measure_storage
from pipelines.documents.videos import to_document
from pipelines.reads.series import SeriesKind
from warehouse.control import hosts
from warehouse.exports.table_files import TableFormat
from warehouse.home import open_home
from warehouse.queries.captures import read_so_far
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


class ExportQuery(QueryModel):
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


class ReportQuery(QueryModel):
    """Query of a report."""

    language: Literal["en", "zh"] = Field(
        "en", description="language that the page shows first. 页面默认语言"
    )


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
        "videos": evidence.videos_of(pairs),
        "returned_count": len(pairs),
        "is_demo_data": scan_service.world.is_demo,
    }
    return conditional_response(request.scope, comparisons)


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
    "/api/v1/sametrack/jobs/{job_id}/report",
    summary="Report of a job as one file (HTML)",
    responses={
        OK: responses.file("text/html", "Page without script that contacts nobody"),
        **responses.error_responses("invalid_parameter", *responses.JOB_ERRORS, "not_found"),
    },
    response_class=Response,
)
def sametrack_job_report(
    request: Request,
    job_id: JobId,
    query: Annotated[ReportQuery, Query()],
    scan_service: ScanServiceDep,
    evidence: EvidenceDep,
) -> Response:
    """Return the result of a scan as one self-contained page that needs no service. 任务报告.

    The page holds both languages, contacts nobody and has no script. Answers 404 for a job without
    a ranking.
    """
    record_parameters(request.scope, {"job_id": job_id, **query.model_dump()})
    scan = scan_service.job(job_id)
    if scan.result is None or "kind" in scan.result:
        raise NotFoundError("The job has no ranking to report")
    job = to_job_document(scan, is_demo=scan_service.world.is_demo)
    pairs = collect_report_evidence(evidence, job, language=query.language)
    page = render_report(job, pairs=pairs, language=query.language)
    name = f"sametrack-{job_id[:8]}.html"
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        # A browser that opens the file here must not give it the rights of this site.
        "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
    }
    return Response(page, media_type="text/html; charset=utf-8", headers=headers)


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

    Ids stay text and no cell is a formula; XLSX has a sheet on method and coverage. Errors of the
    read operation and its `Retry-After` are passed on unchanged.
    """
    record_parameters(request.scope, query.model_dump())
    check_source(query.source, query.table)
    # The operation itself is called, so that a file shows exactly what the operation returns.
    read = await fetch_source(request.app, request.scope, query.source)
    if read.status != OK:
        return JsonResponse(read.envelope, status_code=read.status, headers=read.headers)
    # In a thread, because a large table takes long to encode.
    build = partial(
        build_file,
        read.envelope,
        source=query.source,
        table=query.table,
        form=query.form,
        bom=query.bom,
    )
    export = await run_sync(build)
    headers = {"Content-Disposition": f'attachment; filename="{export.name}"', **read.headers}
    return Response(export.body, media_type=export.media_type, headers=headers)
