"""Table of providers: how each source is built, or why it is unavailable in this release.

No `if provider ==` stands anywhere else. What belongs here: names, and how each source is built. A
source with its own world serves users, music and chart alike, because worlds never mix; nothing is
contacted then.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING

from pipelines.platform.profiles import KNOWN_PROFILES, PlatformProfile, load_profile
from pipelines.settings import Settings
from warehouse.extras import need_extra
from warehouse.home import OWN_WORLDS, find_homes
from warehouse.records.errors import ProfileNotChosenError, ProviderUnsupportedError

if TYPE_CHECKING:
    from pipelines.platform.pictures import PictureSource
    from pipelines.platform.providers.music_service import MusicServicePublic
    from pipelines.platform.providers.provider import ChartProvider, Provider, ProviderDependencies

__all__ = [
    "PROVIDERS",
    "ProviderEntry",
    "build_chart_provider",
    "build_picture_source",
    "build_provider",
    "build_song_source",
    "choose_profile",
    "choose_stored_world",
    "has_chosen_world",
    "music_provider_name",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderEntry:
    """How a source is built, and what it can do.

    Attributes:
        module: Module whose `build` builds the source; loaded when it is used.
        chart: The same for its chart. None: the public chart, or no chart for an own world.
        extra: The extra that the module needs.
        addresses: Profile whose link forms its own world uses; nothing there is contacted.
        first_screens: It reads first screens only; a local cursor pages over stored observations.
        sessions: Readers that one process may open at once; browsers are expensive.
        uses_device: It reads the platform's app on the operator's Android device.
        is_experimental: Its surfaces may stop working any day; responses are marked so.
    """

    module: str
    chart: str | None = None
    extra: str | None = None
    addresses: str = ""
    first_screens: bool = False
    sessions: int = 16
    uses_device: bool = False
    is_experimental: bool = False


PROVIDERS: Mapping[str, ProviderEntry] = {
    # Two names of one source: `public-graph` is its name for music data.
    "public-graph": ProviderEntry(module=f"{__name__}.vidplat_public"),
    "vidplat-public": ProviderEntry(module=f"{__name__}.vidplat_public"),
    "browser-public": ProviderEntry(
        module=f"{__name__}.browser_public", extra="browser", first_screens=True, sessions=2
    ),
    "mobileapp-guest": ProviderEntry(
        module=f"{__name__}.mobileapp_guest", sessions=1, uses_device=True
    ),
    "vidplat-web": ProviderEntry(module=f"{__name__}.vidplat_web", is_experimental=True),
    "mock": ProviderEntry(
        module="sandbox.mock.provider", chart="sandbox.mock.chart", addresses="sandbox"
    ),
    "file": ProviderEntry(module=f"{__name__}.file.provider", addresses="public"),
}


def music_provider_name(settings: Settings) -> str:
    """Return the configured source of music data."""
    rules_everything = settings.data_provider in OWN_WORLDS
    return settings.data_provider if rules_everything else settings.music_data_provider


def has_chosen_world(settings: Settings) -> bool:
    """Return True if the settings choose a world: by a profile, or a source with its own."""
    return settings.data_provider in OWN_WORLDS or bool((settings.profile or "").strip())


def choose_stored_world[S: Settings](settings: S) -> S:
    """Return settings for reading stores: without a chosen world, with the only one that is stored.

    For callers that contact no host. `open_warehouse()` chooses the same world.

    Raises:
        ProfileNotChosenError: Nothing is stored, several worlds are, or one of an own profile.
    """
    if has_chosen_world(settings):
        return settings
    folder = settings.data_home.expanduser()
    worlds = list(find_homes(folder).values())
    if not worlds:
        raise ProfileNotChosenError(
            f"nothing is stored in {str(folder)!r}, and no platform profile is chosen",
            hint="run `sametrack demo`, or set DATA_HOME or PROFILE",
        )
    # Worlds never mix, so the user decides between several, and about a profile of their own.
    name = "data_provider" if worlds[0] in OWN_WORLDS else "profile"
    if len(worlds) > 1:
        raise ProfileNotChosenError(
            f"{str(folder)!r} has the data of several profiles: {', '.join(worlds)}",
            hint=f"set one, for example {name.upper()}={worlds[0]}",
        )
    if worlds[0] not in {*OWN_WORLDS, *KNOWN_PROFILES}:
        raise ProfileNotChosenError(
            f"{str(folder)!r} has the data of {worlds[0]!r}, a profile of your own",
            hint="set PROFILE to its file",
        )
    return settings.model_copy(update={name: worlds[0]})


def choose_profile(settings: Settings) -> PlatformProfile:
    """Load the platform profile of the configured world; its name is the world's.

    Raises:
        ProfileNotChosenError: No profile is chosen, and the source has no world of its own.
        InvalidParameterError: There is no such profile.
    """
    name = settings.data_provider
    if name not in OWN_WORLDS:
        return load_profile(
            settings.profile, sandbox_port=settings.sandbox_port, patch=settings.profile_patch
        )
    forms = load_profile(PROVIDERS[name].addresses, sandbox_port=settings.sandbox_port)
    return forms.model_copy(update={"name": name})


def build_provider(name: str, dependencies: "ProviderDependencies") -> "Provider":
    """Build a source with its own client; close it after use.

    `settings.data_provider` is the source of users, posts and single videos, `music_provider_name`
    returns that of music data.

    Raises:
        ProviderUnsupportedError: The source cannot be used with these settings.
    """
    source = PROVIDERS[name]
    if source.extra is not None:
        need_extra(source.extra, name, error=ProviderUnsupportedError)
    built: Provider = import_module(source.module).build(name, dependencies)
    # Demo data in place of a refusal is for users who look at one answer, never for a scan.
    may_fall_back = dependencies.for_user and dependencies.settings.public_fallback_to_mock
    if may_fall_back and name not in OWN_WORLDS:
        fallback = import_module("sandbox.mock.fallback")
        demo = import_module(PROVIDERS["mock"].module).build("mock", dependencies)
        built = fallback.FallbackProvider(built, demo)
    return built


def build_song_source(dependencies: "ProviderDependencies") -> "MusicServicePublic | None":
    """Build the source of songs, with its own client; None if the world has no music service."""
    has_service = dependencies.profile.hosts.music_service is not None
    if dependencies.settings.data_provider in OWN_WORLDS or not has_service:
        return None
    from pipelines.platform.providers.music_service import MusicServicePublic  # noqa: PLC0415 -- loads DuckDB and HTTP, 0.4 s

    return MusicServicePublic(dependencies.guest())


def build_picture_source(dependencies: "ProviderDependencies") -> "PictureSource | None":
    """Build the source of covers and avatars; None if the world has no picture hosts."""
    has_hosts = bool(dependencies.profile.pictures.hosts)
    if dependencies.settings.data_provider in OWN_WORLDS or not has_hosts:
        return None
    from pipelines.platform.pictures import PictureSource  # noqa: PLC0415 -- loads HTTP, 0.3 s

    return PictureSource(dependencies.guest())


def build_chart_provider(dependencies: "ProviderDependencies") -> "ChartProvider":
    """Build the source of chart history, at the chart's own rate; close it after use.

    Raises:
        ProviderUnsupportedError: The configured source has its own world without a chart.
    """
    name = dependencies.settings.data_provider
    if name in OWN_WORLDS and PROVIDERS[name].chart is None:
        raise ProviderUnsupportedError(
            f"the source {name!r} has no chart", hint="set DATA_PROVIDER=vidplat-public"
        )
    module = import_module(PROVIDERS[name].chart or f"{__name__}.chart_public")
    at_own_rate = replace(dependencies, profile=dependencies.profile.for_chart())
    built: ChartProvider = module.build(name, at_own_rate)
    return built
