"""Catalogues: import tracks, request a run, read where it stands. No operation waits for a scan."""

from typing import Annotated

from fastapi import APIRouter, Body, Depends, Path, Query, Request
from starlette.responses import Response

from api.params.catalogs import CatalogImportBody, CatalogTracksQuery
from api.responses.envelope import conditional_response, record_parameters, success_response
from api.routes import dependencies
from api.schemas import responses
from api.schemas.extensions import catalogs as schemas
from api.server.json_body import JsonRoute
from api.services.catalogs import PATH, CatalogApi
from api.services.reads.sources import Sources
from pipelines.catalog.service import CatalogService
from pipelines.catalog.sources.song_lists import SongListReader

router = APIRouter(
    tags=["Sametrack"], route_class=JsonRoute, dependencies=[Depends(dependencies.check_query)]
)

_ONE = f"{PATH}/{{name}}"
_LIST_ERRORS = (*responses.PARAMETER_ERRORS, *responses.STORE_ERRORS)
_ERRORS = (*_LIST_ERRORS, "not_found")
CatalogName = Annotated[str, Path(description="name of a catalogue. 曲库名称")]


async def _catalogs(
    sources: dependencies.SourcesDep, deadline: dependencies.DeadlineDep
) -> CatalogApi:
    def build(chosen: Sources) -> CatalogApi:
        profile, control = chosen.profile, chosen.control
        songs = SongListReader(
            settings=chosen.settings,
            profile=profile,
            control=control,
            engine=chosen.engine,
            sounds_dir=chosen.sounds_dir,
            guard=deadline.guard,
        )
        catalogs = CatalogService(
            control=control,
            find_target=profile.find_target,
            read_songs=songs.read,
            song_link=profile.song_link,
        )
        return CatalogApi(catalogs, control, chosen.engine, is_demo=chosen.is_demo)

    return dependencies.built_from(sources, build)


CatalogsDep = Annotated[CatalogApi, Depends(_catalogs)]


@router.post(
    f"{_ONE}/tracks",
    summary="Import tracks into a catalogue",
    responses=responses.action_responses(
        schemas.CatalogImport,
        "Import",
        *responses.BODY_ERRORS,
        *responses.STORE_ERRORS,
        "not_found",
    ),
)
def sametrack_catalog_import(
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
    return success_response(request.scope, catalogs.add(name, body))


@router.get(
    PATH,
    summary="List catalogues",
    responses=responses.action_responses(schemas.CatalogList, "Catalogues", *_LIST_ERRORS),
)
def sametrack_catalogs(request: Request, catalogs: CatalogsDep) -> Response:
    """Return all catalogues with the states of their tracks. 曲库列表."""
    return success_response(request.scope, catalogs.listed())


@router.get(
    _ONE,
    summary="Get a catalogue",
    responses=responses.action_responses(schemas.CatalogDocument, "Catalogue", *_ERRORS),
)
def sametrack_catalog(request: Request, name: CatalogName, catalogs: CatalogsDep) -> Response:
    """Return where a catalogue stands: what is due, under way, and spent today. 曲库状态."""
    record_parameters(request.scope, {"name": name})
    return success_response(request.scope, catalogs.read(name))


@router.post(
    f"{_ONE}/runs",
    summary="Run a catalogue",
    responses=responses.action_responses(
        schemas.CatalogDocument, "Catalogue whose run begins", *_ERRORS
    ),
)
def sametrack_catalog_run(request: Request, name: CatalogName, catalogs: CatalogsDep) -> Response:
    """Have workers scan what is due, until the day's budget is spent. 运行曲库."""
    record_parameters(request.scope, {"name": name})
    return success_response(request.scope, catalogs.run(name))


@router.delete(
    f"{_ONE}/runs",
    summary="Stop the run of a catalogue",
    responses=responses.action_responses(schemas.CatalogCancelled, "Stopped run", *_ERRORS),
)
def sametrack_catalog_cancel(
    request: Request,
    name: CatalogName,
    catalogs: CatalogsDep,
    scan_service: dependencies.ScanServiceDep,
) -> Response:
    """Stop the run and cancel its jobs. What was scanned is kept. 停止曲库运行."""
    record_parameters(request.scope, {"name": name})
    return success_response(request.scope, catalogs.cancel(name, scan_service))


@router.delete(
    _ONE,
    summary="Remove a catalogue",
    responses=responses.action_responses(schemas.CatalogRemoved, "Removed catalogue", *_ERRORS),
)
def sametrack_catalog_remove(
    request: Request, name: CatalogName, catalogs: CatalogsDep
) -> Response:
    """Remove a catalogue. Its jobs go on; results and observations are kept. 删除曲库."""
    record_parameters(request.scope, {"name": name})
    return success_response(request.scope, catalogs.remove(name))


@router.get(
    f"{_ONE}/tracks",
    summary="Tracks of a catalogue",
    responses=responses.read_responses(schemas.CatalogTracks, "Tracks", *_ERRORS),
)
def sametrack_catalog_tracks(
    request: Request,
    name: CatalogName,
    query: Annotated[CatalogTracksQuery, Query()],
    catalogs: CatalogsDep,
) -> Response:
    """Return a page of tracks with what all scans have found. 曲库中的音乐."""
    record_parameters(request.scope, {"name": name, **query.model_dump()})
    return conditional_response(request.scope, catalogs.tracks(name, query))
