"""Settings of commands that only read what is stored: the only stored world needs no PROFILE."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from api.settings import ApiSettings


def stored_settings() -> "ApiSettings":
    """Return the settings; without a chosen world, with the only one of the data home.

    Raises:
        ProfileNotChosenError: Nothing is stored, or there are several worlds.
    """
    from api.settings import ApiSettings  # noqa: PLC0415 -- loads pydantic
    from pipelines.platform.providers import choose_stored_world  # noqa: PLC0415 -- as above

    return choose_stored_world(ApiSettings())
