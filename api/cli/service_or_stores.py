"""Commands that act on the stores of this machine, or with `--api` on those of a service."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from api.client import ApiResponse, AsyncClient


def ask(
    api: str | None,
    remote: "Callable[[AsyncClient], Awaitable[ApiResponse[Any]]]",
    local: Callable[[], Any],  # a document, whose type only the caller knows
) -> Any:
    """Return the data of the service at `api`, or what is equal, the answer of `local`.

    Raises:
        typer.Exit: The service failed (1), or the input is invalid (2).
    """
    if api is None:
        return local()
    from api.cli.api_access import call_api  # noqa: PLC0415 -- loads an HTTP client

    return call_api(remote, api=api).data
