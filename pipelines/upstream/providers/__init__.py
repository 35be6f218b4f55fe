"""The one table of providers: which source answers, or why it does not in this release.

No `if provider ==` stands anywhere else.
"""

from collections.abc import Callable, Mapping

from pipelines.domain.errors import ProviderUnsupportedError
from pipelines.settings import Settings
from pipelines.upstream.http import GuestClient, HttpLimits
from pipelines.upstream.politeness import HostBook, Turns
from pipelines.upstream.profiles import Profile
from pipelines.upstream.providers.protocol import Provider
from pipelines.upstream.providers.vidplat_public import VidplatPublic

__all__ = [
    "Provider",
    "build_music_provider",
    "music_provider_name",
    "supported_music_providers",
]

Build = Callable[[str, GuestClient], Provider]


def _public(name: str, client: GuestClient) -> Provider:
    return VidplatPublic(client, name=name)


_TABLE: Mapping[str, Build | str] = {
    "public-graph": _public,
    "vidplat-public": _public,
    "browser-public": "reading through a local browser is not part of this release",
    "mobileapp-guest": "reading through the platform's app in an emulator is not part of "
    "this release",
    "vidplat-web": "the experimental web surfaces are not part of this release",
    "mock": "generated demo data is not part of this release; the sandbox profile serves a "
    "whole invented platform",
    "file": "reading from files is not part of this release",
}
_RULES_EVERYTHING = frozenset({"mock"})  # decisions: it makes music data its own as well


def supported_music_providers() -> frozenset[str]:
    """Names that `build_music_provider` can build."""
    return frozenset(name for name, entry in _TABLE.items() if not isinstance(entry, str))


def music_provider_name(settings: Settings) -> str:
    """The source of music data that the settings choose."""
    ruled = settings.data_provider in _RULES_EVERYTHING
    return settings.data_provider if ruled else settings.music_data_provider


def build_music_provider(
    settings: Settings,
    profile: Profile,
    *,
    control: HostBook,
    limits: HttpLimits | None = None,
) -> Provider:
    """The source that the settings choose, with a client of its own; close it after use.

    Raises:
        ProviderUnsupportedError: This release cannot read from it.
    """
    name = music_provider_name(settings)
    entry = _TABLE[name]
    if isinstance(entry, str):
        raise ProviderUnsupportedError(
            f"the source {name!r} cannot be used: {entry}",
            hint="set MUSIC_DATA_PROVIDER=public-graph and DATA_PROVIDER=vidplat-public",
        )
    turns = Turns(control, profile.rate, daily_budget=settings.daily_request_budget)
    return entry(name, GuestClient(profile, turns, limits=limits))
