"""Chooses between the stores of this machine and those of a service."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from api.settings import ApiSettings
from pipelines.platform.providers import choose_stored_world

if TYPE_CHECKING:
    from api.client import ApiResponse, AsyncClient


def stored_settings() -> ApiSettings:
    """Return the settings of a command that only reads: by default of the only stored world.

    Raises:
        ProfileNotChosenError: No world is chosen, and nothing is stored, or several worlds are.
    """
    return choose_stored_world(ApiSettings())


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
