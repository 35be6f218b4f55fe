"""Compared pairs, reads of a job, time series, storage usage, and exports of tables as files."""

from dataclasses import asdict
from functools import partial
from typing import Annotated, Literal

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import Field, StrictBool
from starlette.responses import Response

from api.params.scan import PrintableText, QueryModel
from api.responses.envelope import JsonResponse, conditional_response, record_parameters
from api.responses.errors import OK, NotFoundError
from api.routes.dependencies import (
    EvidenceDep,
    ScanServiceDep,
    SourcesDep,
    no_query_parameters,
    no_repeated_parameters,
)
from api.routes.jobs import JobId
from api.schemas.extensions.exports import Storage
from api.schemas.responses import (
    COMPARISONS_RESPONSES,
    EXPORT_RESPONSES,
    JOB_READS_RESPONSES,
    REPORT_RESPONSES,
    SERIES_RESPONSES,
    STORAGE_RESPONSES,
)
from api.services.exports.build import build_file
from api.services.exports.source_reader import check_source, fetch_source
from api.services.exports.tables import TableName
from api.services.job_document import scan_job_id, to_job_document
from api.services.report import report_page
from api.services.series import read_series
from api.services.storage import measure_storage
from pipelines.reads.series import SeriesKind
from warehouse.exports.table_files import TableFormat
from warehouse.home.folder import open_home
from warehouse.queries.captures import read_so_far

router = APIRouter(tags=["Sametrack"], dependencies=[Depends(no_query_parameters)])
exporting = APIRouter(tags=["Sametrack"], dependencies=[Depends(no_repeated_parameters)])

MAX_SOURCE_LENGTH = 1000
Kind = Annotated[SeriesKind, Path(description="kind of the id. ID 的种类")]
EntityId = Annotated[
    str,
    Path(max_length=200, description="id of a video, a track or an account. 作品、音乐或账号 ID"),
]


class ExportQuery(QueryModel):
    """Query of an export."""

    source: Annotated[PrintableText, Field(min_length=1, max_length=MAX_SOURCE_LENGTH)] = Field(
        description="path and query of the read operation to export. 要导出的读取接口（路径与参数）"
    )
    table: TableName = Field(description="table of the response. 表格名称")
    form: TableFormat = Field(description="file format. 文件格式")
    bom: StrictBool = Field(False, description="add a byte order mark to CSV. CSV 是否带 BOM")


class ReportQuery(QueryModel):
    """Query of a report."""

    language: Literal["en", "zh"] = Field(
        "en", description="language that the page shows first. 页面默认语言"
    )


@router.get(
    "/api/v1/sametrack/jobs/{job_id}/comparisons",
    summary="Compared pairs of a job",
    response_model=None,
    responses=COMPARISONS_RESPONSES,
)
async def sametrack_job_comparisons(
    request: Request, job_id: JobId, scan_service: ScanServiceDep, evidence: EvidenceDep
) -> Response:
    """Return the evidence of every compared pair, rejected ones included. 任务的全部音频比对.

    Of a job that a stored result served: the pairs of the scan behind it (`scan_job_id`).
    """
    record_parameters(request.scope, {"job_id": job_id})
    scan = await run_sync(scan_service.job, job_id)
    pairs = await run_sync(evidence.pairs_of_job, scan_job_id(scan))
    data = {
        "job_id": job_id,
        "comparisons": pairs,
        "videos": await run_sync(evidence.videos_of, pairs),
        "returned_count": len(pairs),
        "is_demo_data": scan_service.world.is_demo,
    }
    return conditional_response(request.scope, data)


@router.get(
    "/api/v1/sametrack/jobs/{job_id}/reads",
    summary="Sources read so far by a job",
    response_model=None,
    responses=JOB_READS_RESPONSES,
)
async def sametrack_job_reads(
    request: Request, job_id: JobId, scan_service: ScanServiceDep, sources: SourcesDep
) -> Response:
    """Return reads by surface and outcome, updated while the scan runs. 已读取情况."""
    record_parameters(request.scope, {"job_id": job_id})
    await run_sync(scan_service.job, job_id)
    found = await run_sync(read_so_far, sources.engine, job_id)
    reads = [asdict(one) for one in found]
    return conditional_response(
        request.scope,
        {"job_id": job_id, "reads": reads, "is_demo_data": scan_service.world.is_demo},
    )


@exporting.get(
    "/api/v1/sametrack/jobs/{job_id}/report",
    summary="Report of a job as one file (HTML)",
    response_class=Response,
    responses=REPORT_RESPONSES,
)
async def sametrack_job_report(
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
    scan = await run_sync(scan_service.job, job_id)
    if scan.result is None or "kind" in scan.result:
        raise NotFoundError("The job has no ranking to report")
    job = to_job_document(scan, is_demo=scan_service.world.is_demo)
    page = await run_sync(partial(report_page, evidence, job, language=query.language))
    name = f"sametrack-{job_id[:8]}.html"
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
    }
    return Response(page, media_type="text/html; charset=utf-8", headers=headers)


@router.get(
    "/api/v1/sametrack/series/{kind}/{entity_id}",
    summary="Engagement over time",
    response_model=None,
    responses=SERIES_RESPONSES,
)
async def sametrack_series(
    request: Request, kind: Kind, entity_id: EntityId, sources: SourcesDep
) -> Response:
    """Return all observations of a video, an account, or the videos of a track. 互动随时间变化.

    A track sums its confirmed videos. Gaps are not filled; a rounded count has its range.
    """
    record_parameters(request.scope, {"kind": kind, "entity_id": entity_id})
    found = partial(read_series, sources.engine, kind, entity_id, is_demo=sources.is_demo)
    return conditional_response(request.scope, await run_sync(found))


@router.get(
    "/api/v1/sametrack/storage",
    summary="Storage and request budget",
    response_model=None,
    responses=STORAGE_RESPONSES,
)
async def sametrack_storage(request: Request, sources: SourcesDep) -> Response:
    """Return disk usage of the stores and today's requests per host. 存储占用与今日预算."""

    def measure() -> Storage:
        settings = sources.settings
        home = open_home(settings.data_home, sources.profile.name)
        return measure_storage(
            home.root,
            spent_today=sources.control.spent_today(),
            daily_budget=settings.daily_request_budget,
            is_demo=sources.is_demo,
        )

    return conditional_response(request.scope, await run_sync(measure))


@exporting.get(
    "/api/v1/sametrack/export",
    summary="Export a table",
    response_class=Response,
    responses=EXPORT_RESPONSES,
)
async def sametrack_export(request: Request, query: Annotated[ExportQuery, Query()]) -> Response:
    """Export a table of a read operation as CSV, XLSX, Parquet or JSON. 导出表格.

    Ids stay text and no cell is a formula; XLSX has a sheet on method and coverage. Errors of the
    read operation and its `Retry-After` are passed on unchanged.
    """
    record_parameters(request.scope, query.model_dump())
    check_source(query.source, query.table)
    read = await fetch_source(request.app, request.scope, query.source)
    if read.status != OK:
        return JsonResponse(read.envelope, status_code=read.status, headers=read.headers)
    make = partial(
        build_file, read.envelope, source=query.source, table=query.table, form=query.form
    )
    file = await run_sync(partial(make, bom=query.bom))
    headers = {"Content-Disposition": f'attachment; filename="{file.name}"', **read.headers}
    return Response(file.body, media_type=file.media_type, headers=headers)
