"""Reports as files: the result of a job, the page of a track. Each is one page without script."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from pydantic import Field
from starlette.responses import Response

from api.params.fields import QueryModel
from api.params.scan import RankingQuery
from api.responses.envelope import record_parameters, request_info
from api.responses.errors import OK
from api.routes.dependencies import EvidenceDep, ScanServiceDep, check_query
from api.routes.extensions.exports import TableViewQuery
from api.routes.extensions.tracks import MusicId, TracksDep
from api.routes.jobs import JobId
from api.schemas import responses
from api.services.exports.file_names import attachment_headers, to_file_name
from api.services.exports.tables import day_of, subject_of
from api.services.job_document import to_scan_parameters
from api.services.report.job_report import build_job_report, find_reported_job
from api.services.report.track_report import render_track_report
from api.services.tracks import PATH as TRACKS
from warehouse.exports.error_sheet import SheetLanguage
from warehouse.records.values import ReadOnlyDocument

router = APIRouter(tags=["Sametrack"], dependencies=[Depends(check_query)])

_PAGE = responses.file("text/html", "Page without script that contacts nobody")


class LanguageQuery(QueryModel):
    """Query of a page in both languages."""

    language: SheetLanguage = Field(
        "en", description="language that the page shows first. 页面默认语言"
    )


class ReportQuery(LanguageQuery, TableViewQuery, RankingQuery):
    """Query of the report of a job: the view of the ranking that it holds, and its language."""


@router.get(
    "/api/v1/sametrack/jobs/{job_id}/report",
    summary="Report of a job as one file (HTML)",
    responses={
        OK: _PAGE,
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

    Its ranking has the order, the filters and the columns of the query. The page holds both
    languages, contacts nobody and has no script. Answers 404 for a job without a ranking.
    """
    record_parameters(request.scope, {"job_id": job_id, **query.model_dump()})
    scan = find_reported_job(scan_service, job_id)
    is_demo = scan_service.world.is_demo
    page = build_job_report(
        scan,
        evidence,
        is_demo=is_demo,
        language=query.language,
        ranking=query.to_parameters(to_scan_parameters(scan.job)),
        include_variants=query.include_variants,
        view=query.to_table_view(),
    )
    result: ReadOnlyDocument = scan.result or {}
    title = subject_of(result, "report")
    return _to_file(request, page, title, made=result, is_demo=is_demo, language=query.language)


@router.get(
    f"{TRACKS}/{{music_id}}/report",
    summary="Page of a track as one file (HTML)",
    responses={
        OK: _PAGE,
        **responses.error_responses("invalid_parameter", *responses.READ_ERRORS, "not_found"),
    },
    response_class=Response,
)
def sametrack_track_report(
    request: Request,
    music_id: MusicId,
    query: Annotated[LanguageQuery, Query()],
    tracks: TracksDep,
) -> Response:
    """Return the page of a track as one self-contained page that needs no service. 音乐主页文件.

    The page holds both languages, contacts nobody and has no script; notes are not on it. Answers
    404 if nothing is stored of the music id.
    """
    record_parameters(request.scope, {"music_id": music_id, **query.model_dump()})
    track = tracks.page(music_id)
    page = render_track_report(track, language=query.language)
    title = track["title"] or music_id
    return _to_file(
        request, page, title, made=track, is_demo=tracks.is_demo, language=query.language
    )


def _to_file(
    request: Request,
    page: str,
    title: str,
    *,
    made: ReadOnlyDocument,
    is_demo: bool,
    language: SheetLanguage,
) -> Response:
    """Return a page as a file with a title and the day on which its data were made."""
    call = request_info(request.scope)
    name = to_file_name(
        title,
        "report",
        day_of(made, call.moment, call.time_zone),
        "html",
        is_demo=is_demo,
        language=language,
    )
    headers = {
        **attachment_headers(name),
        # A browser that opens the file here must not give it the rights of this site.
        "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
    }
    return Response(page, media_type="text/html; charset=utf-8", headers=headers)
