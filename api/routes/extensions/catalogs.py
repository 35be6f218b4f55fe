"""Catalogues: import tracks, request a run, read where it stands. No operation waits for a scan."""

from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Body, Depends, Path, Query, Request
from starlette.responses import Response

from api.params.catalogs import CatalogImportBody, CatalogTracksQuery
from api.responses.envelope import conditional_response, record_parameters, success_response
from api.routes.dependencies import (
    ScanServiceDep,
    SourcesDep,
    no_query_parameters,
    no_repeated_parameters,
)
from api.schemas.extensions.catalogs import (
    CANCEL_RESPONSES,
    IMPORT_RESPONSES,
    LIST_RESPONSES,
    READ_RESPONSES,
    REMOVE_RESPONSES,
    RUN_RESPONSES,
    TRACKS_RESPONSES,
)
from api.server.middleware.json_body import JsonRoute
from api.services.catalogs.service import PATH, CatalogApi
from api.services.reads.deadline import Deadline
from pipelines.catalog.service import CatalogService
from pipelines.catalog.sources.song_list_reader import SongListReader

router = APIRouter(tags=["Sametrack"], dependencies=[Depends(no_query_parameters)])
listing = APIRouter(tags=["Sametrack"], dependencies=[Depends(no_repeated_parameters)])
writing = APIRouter(
    tags=["Sametrack"], route_class=JsonRoute, dependencies=[Depends(no_query_parameters)]
)

CatalogName = Annotated[str, Path(description="name of a catalogue. 曲库名称")]


async def _catalogs(sources: SourcesDep) -> CatalogApi:
    profile, control = sources.profile, sources.control
    songs = SongListReader(
        settings=sources.settings,
        profile=profile,
        control=control,
        engine=sources.engine,
        sounds_dir=sources.sounds_dir,
        guard=Deadline(sources.settings.sync_request_timeout).guard,
    )
    catalogs = CatalogService(
        control=control,
        find_target=profile.find_target,
        read_songs=songs.read,
        song_link=profile.song_link,
    )
    return CatalogApi(catalogs, control, is_demo=sources.is_demo)


CatalogsDep = Annotated[CatalogApi, Depends(_catalogs)]


@router.get(PATH, summary="List catalogues", response_model=None, responses=LIST_RESPONSES)
async def sametrack_catalogs(request: Request, catalogs: CatalogsDep) -> Response:
    """Return all catalogues with the states of their tracks. 曲库列表."""
    return success_response(request.scope, await run_sync(catalogs.listed))


@router.get(
    f"{PATH}/{{name}}", summary="Get a catalogue", response_model=None, responses=READ_RESPONSES
)
async def sametrack_catalog(request: Request, name: CatalogName, catalogs: CatalogsDep) -> Response:
    """Return where a catalogue stands: what is due, under way, and spent today. 曲库状态."""
    record_parameters(request.scope, {"name": name})
    return success_response(request.scope, await run_sync(catalogs.read, name))


@listing.get(
    f"{PATH}/{{name}}/tracks",
    summary="Tracks of a catalogue",
    response_model=None,
    responses=TRACKS_RESPONSES,
)
async def sametrack_catalog_tracks(
    request: Request,
    name: CatalogName,
    query: Annotated[CatalogTracksQuery, Query()],
    catalogs: CatalogsDep,
) -> Response:
    """Return a page of tracks with their newest results, in their order. 曲库中的音乐."""
    record_parameters(request.scope, {"name": name, **query.model_dump()})
    data = await run_sync(lambda: catalogs.tracks(name, query))
    return conditional_response(request.scope, data)


@writing.post(
    f"{PATH}/{{name}}/tracks",
    summary="Import tracks into a catalogue",
    response_model=None,
    responses=IMPORT_RESPONSES,
)
async def sametrack_catalog_import(
    request: Request,
    name: CatalogName,
    body: Annotated[CatalogImportBody, Body()],
    catalogs: CatalogsDep,
) -> Response:
    """Add tracks, or update them; each line that is not imported is named. 导入音乐.

    The catalogue is created if there is none. Send a long list in parts of 500 lines. A link of a
    playlist is read from the platform.
    """
    record_parameters(request.scope, {"name": name, "first_line": body.first_line})
    return success_response(request.scope, await run_sync(lambda: catalogs.add(name, body)))


@router.post(
    f"{PATH}/{{name}}/runs",
    summary="Run a catalogue",
    response_model=None,
    responses=RUN_RESPONSES,
)
async def sametrack_catalog_run(
    request: Request, name: CatalogName, catalogs: CatalogsDep
) -> Response:
    """Have workers scan what is due, until the day's budget is spent. 运行曲库."""
    record_parameters(request.scope, {"name": name})
    return success_response(request.scope, await run_sync(catalogs.run, name))


@router.delete(
    f"{PATH}/{{name}}/runs",
    summary="Stop the run of a catalogue",
    response_model=None,
    responses=CANCEL_RESPONSES,
)
async def sametrack_catalog_cancel(
    request: Request, name: CatalogName, catalogs: CatalogsDep, scan_service: ScanServiceDep
) -> Response:
    """Stop the run and cancel its jobs. What was scanned is kept. 停止曲库运行."""
    record_parameters(request.scope, {"name": name})
    return success_response(request.scope, await run_sync(catalogs.cancel, name, scan_service))


@router.delete(
    f"{PATH}/{{name}}",
    summary="Remove a catalogue",
    response_model=None,
    responses=REMOVE_RESPONSES,
)
async def sametrack_catalog_remove(
    request: Request, name: CatalogName, catalogs: CatalogsDep
) -> Response:
    """Remove a catalogue. Its jobs go on; results and observations are kept. 删除曲库."""
    record_parameters(request.scope, {"name": name})
    return success_response(request.scope, await run_sync(catalogs.remove, name))
