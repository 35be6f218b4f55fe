"""Reads the stores of this machine, or chooses between them and those of a service."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from api.settings import ApiSettings
from pipelines.platform.providers import choose_profile, choose_stored_world
from warehouse.home import is_demo_world, open_home

if TYPE_CHECKING:
    from api.client import ApiResponse, AsyncClient
    from api.schemas.extensions.tracks import TrackPage


def stored_settings() -> ApiSettings:
    """Return the settings of a command that only reads: by default of the only stored world.

    Raises:
        ProfileNotChosenError: No world is chosen, and nothing is stored, or several worlds are.
    """
    return choose_stored_world(ApiSettings())


def read_stored_track(music_id: str) -> "TrackPage":
    """Return what the stores of this machine have of a track.

    Raises:
        NotFoundError: Nothing is stored of this music id.
    """
    from api.services.tracks import TrackService  # noqa: PLC0415 -- loads DuckDB and Delta, 0.5 s
    from pipelines.open_stores import open_control_of, open_engine_of  # noqa: PLC0415 -- as above

    settings = stored_settings()
    home = open_home(settings.data_home, choose_profile(settings).name)
    with open_control_of(settings, home) as control, open_engine_of(settings, home) as engine:
        return TrackService(engine, control, is_demo=is_demo_world(home.world)).page(music_id)


def call_service_or_stores(
    api: str | None,
    remote: "Callable[[AsyncClient], Awaitable[ApiResponse[Any]]]",
    local: Callable[[], Any],  # a document, whose type only the caller knows
) -> Any:
    """Return the data of the service at `api`, or without one the equal document of `local`.

    Raises:
        typer.Exit: The service failed (1), or the input is invalid (2).
    """
    if api is None:
        return local()
    from api.cli.api_access import call_api  # noqa: PLC0415 -- `jobs` stays within its second

    return call_api(remote, api=api).data
