"""Catalogues: import tracks, request a run, read where it stands. No operation waits for a scan."""

from typing import Annotated

from fastapi import Depends, Path, Request

from api.params.catalogs import CatalogImportBody, CatalogTracksQuery
from api.responses.envelope import record_parameters
from api.routes.dependencies import DeadlineDep, ScanServiceDep, SourcesDep, built_from
from api.routes.operations import OperationRoutes
from api.schemas.extensions.catalogs import (
    CatalogCancelled,
    CatalogDocument,
    CatalogImport,
    CatalogList,
    CatalogRemoved,
    CatalogTracks,
)
from api.schemas.responses import PARAMETER_ERRORS, STORE_ERRORS
from api.services.catalogs import PATH, CatalogApi
from api.services.reads.sources import Sources
from pipelines.catalog.service import CatalogService
from pipelines.catalog.sources.song_lists import SongListReader

operations = OperationRoutes(lists_unchanged_last=True)

_ONE = f"{PATH}/{{name}}"
_LIST_ERRORS = (*PARAMETER_ERRORS, *STORE_ERRORS)
_ERRORS = (*_LIST_ERRORS, "not_found")
CatalogName = Annotated[str, Path(description="name of a catalogue. 曲库名称")]


async def _catalogs(sources: SourcesDep, deadline: DeadlineDep) -> CatalogApi:
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
        return CatalogApi(catalogs, control, is_demo=chosen.is_demo)

    return built_from(sources, build)


CatalogsDep = Annotated[CatalogApi, Depends(_catalogs)]


@operations.act(
    "POST",
    f"{_ONE}/tracks",
    "Import tracks into a catalogue",
    "Import",
    *STORE_ERRORS,
    "not_found",
)
def sametrack_catalog_import(
    request: Request, name: CatalogName, body: CatalogImportBody, catalogs: CatalogsDep
) -> CatalogImport:
    """Add tracks, or update them; each line that is not imported is named. 导入音乐.

    The catalogue is created if there is none. Send a long list in parts of 500 lines. A link of a
    playlist is read from the platform.
    """
    record_parameters(request.scope, {"name": name, "first_line": body.first_line})
    return catalogs.add(name, body)


@operations.act("GET", PATH, "List catalogues", "Catalogues", *_LIST_ERRORS)
def sametrack_catalogs(catalogs: CatalogsDep) -> CatalogList:
    """Return all catalogues with the states of their tracks. 曲库列表."""
    return catalogs.listed()


@operations.act("GET", _ONE, "Get a catalogue", "Catalogue", *_ERRORS)
def sametrack_catalog(name: CatalogName, catalogs: CatalogsDep) -> CatalogDocument:
    """Return where a catalogue stands: what is due, under way, and spent today. 曲库状态."""
    return catalogs.read(name)


@operations.act("POST", f"{_ONE}/runs", "Run a catalogue", "Catalogue whose run begins", *_ERRORS)
def sametrack_catalog_run(name: CatalogName, catalogs: CatalogsDep) -> CatalogDocument:
    """Have workers scan what is due, until the day's budget is spent. 运行曲库."""
    return catalogs.run(name)


@operations.act("DELETE", f"{_ONE}/runs", "Stop the run of a catalogue", "Stopped run", *_ERRORS)
def sametrack_catalog_cancel(
    name: CatalogName, catalogs: CatalogsDep, scan_service: ScanServiceDep
) -> CatalogCancelled:
    """Stop the run and cancel its jobs. What was scanned is kept. 停止曲库运行."""
    return catalogs.cancel(name, scan_service)


@operations.act("DELETE", _ONE, "Remove a catalogue", "Removed catalogue", *_ERRORS)
def sametrack_catalog_remove(name: CatalogName, catalogs: CatalogsDep) -> CatalogRemoved:
    """Remove a catalogue. Its jobs go on; results and observations are kept. 删除曲库."""
    return catalogs.remove(name)


@operations.read(f"{_ONE}/tracks", "Tracks of a catalogue", "Tracks", *_ERRORS)
def sametrack_catalog_tracks(
    name: CatalogName, query: CatalogTracksQuery, catalogs: CatalogsDep
) -> CatalogTracks:
    """Return a page of tracks with their newest results, in their order. 曲库中的音乐."""
    return catalogs.tracks(name, query)
