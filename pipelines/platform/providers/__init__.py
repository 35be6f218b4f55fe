"""Table of providers: how each source is built, or why it is unavailable in this release.

No `if provider ==` stands anywhere else. What belongs here: names, and how each source is built. A
source with its own world serves users, music and chart alike, because worlds never mix; nothing is
contacted then.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.platform.profiles import PlatformProfile, load_profile
from pipelines.platform.providers.protocol import ChartProvider, Provider
from pipelines.settings import Settings
from warehouse.extras import need_extra
from warehouse.records.errors import ProviderUnsupportedError
from warehouse.records.worlds import OWN_WORLDS

if TYPE_CHECKING:
    from pipelines.platform.http.client import HttpLimits
    from pipelines.platform.http.host_policy import HostPolicyStore
    from pipelines.platform.http.revalidation import BodyArchive
    from pipelines.platform.pictures import PictureSource
    from pipelines.platform.providers.dependencies import ProviderDependencies
    from pipelines.platform.providers.mock.provider import MockProvider
    from pipelines.platform.providers.music_service import MusicServicePublic

__all__ = [
    "ChartProvider",
    "Provider",
    "build_chart_provider",
    "build_data_provider",
    "build_music_provider",
    "build_picture_source",
    "build_song_source",
    "choose_profile",
    "data_provider_name",
    "has_chosen_world",
    "is_experimental",
    "music_provider_name",
    "reads_first_screens_alone",
    "session_limit",
    "supported_music_providers",
    "uses_device",
]

type Build = Callable[[str, ProviderDependencies], Provider]
type BuildChart = Callable[[str, ProviderDependencies], ChartProvider]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ProviderEntry:
    """One line of the table.

    Attributes:
        build: Builds the source; None if it is unavailable, with the `reason`.
        build_chart: Builds its chart. None: the public chart, or no chart for an own world.
        addresses: Profile whose link forms its own world uses; nothing there is contacted.
        first_screens: It reads first screens only, so deeper pages come from stored observations.
        sessions: Readers that one process may open at once; browsers are expensive.
        uses_device: It reads the platform's app on the operator's Android device.
        is_experimental: Its surfaces may stop working any day; responses are marked so.
    """

    build: Build | None = None
    reason: str = ""
    build_chart: BuildChart | None = None
    addresses: str = ""
    first_screens: bool = False
    sessions: int = 16
    uses_device: bool = False
    is_experimental: bool = False


def _public(name: str, dependencies: "ProviderDependencies") -> Provider:
    # Listing jobs needs the names of this table, and neither a provider nor its HTTP client.
    from pipelines.platform.providers.vidplat_public import VidplatPublic  # noqa: PLC0415

    return VidplatPublic(dependencies.guest(), name=name, sick_policy=dependencies.sick_policy)


def _vidplat_web(name: str, dependencies: "ProviderDependencies") -> Provider:
    from pipelines.platform.providers.vidplat_web import build_vidplat_web  # noqa: PLC0415  # as above

    return build_vidplat_web(name, dependencies)


def _file(name: str, dependencies: "ProviderDependencies") -> Provider:
    from pipelines.platform.providers.file.provider import build_file  # noqa: PLC0415  # as above

    return build_file(name, dependencies)


def _browser(name: str, dependencies: "ProviderDependencies") -> Provider:
    need_extra("browser", name, error=ProviderUnsupportedError)
    # The browser's driver takes a moment to load.
    from pipelines.platform.providers.browser_public import build_browser_public  # noqa: PLC0415

    return build_browser_public(name, dependencies)


def _mobileapp(name: str, dependencies: "ProviderDependencies") -> Provider:
    # Device support is loaded only when it is used.
    from pipelines.platform.providers.mobileapp_guest import (  # noqa: PLC0415
        build_mobileapp_guest,
    )

    return build_mobileapp_guest(name, dependencies)


def _mock(name: str, dependencies: "ProviderDependencies") -> "MockProvider":
    # The sandbox world is loaded only when it is used.
    from pipelines.platform.providers.mock.provider import build_mock  # noqa: PLC0415

    return build_mock(name, dependencies)


def _mock_chart(name: str, dependencies: "ProviderDependencies") -> ChartProvider:
    from pipelines.platform.providers.mock.chart import build_mock_chart  # noqa: PLC0415  # as above

    return build_mock_chart(name, dependencies)


def _with_fallback(source: Provider, dependencies: "ProviderDependencies") -> Provider:
    from pipelines.platform.providers.fallback import FallbackProvider  # noqa: PLC0415  # as above

    return FallbackProvider(source, _mock("mock", dependencies))


_TABLE: Mapping[str, _ProviderEntry] = {
    "public-graph": _ProviderEntry(build=_public),
    "vidplat-public": _ProviderEntry(build=_public),
    "browser-public": _ProviderEntry(build=_browser, first_screens=True, sessions=2),
    "mobileapp-guest": _ProviderEntry(build=_mobileapp, sessions=1, uses_device=True),
    "vidplat-web": _ProviderEntry(build=_vidplat_web, is_experimental=True),
    "mock": _ProviderEntry(build=_mock, build_chart=_mock_chart, addresses="sandbox"),
    "file": _ProviderEntry(build=_file, addresses="public"),
}


def supported_music_providers() -> frozenset[str]:
    """Return the names that `build_music_provider` can build."""
    return frozenset(name for name, source in _TABLE.items() if source.build is not None)


def data_provider_name(settings: Settings) -> str:
    """Return the configured source of users, posts and single videos."""
    return settings.data_provider


def music_provider_name(settings: Settings) -> str:
    """Return the configured source of music data."""
    rules_everything = settings.data_provider in OWN_WORLDS
    return settings.data_provider if rules_everything else settings.music_data_provider


def reads_first_screens_alone(name: str) -> bool:
    """Return True for a source without deeper pages; a local cursor pages over observations."""
    return _TABLE[name].first_screens


def session_limit(name: str) -> int:
    """Return how many readers of a source one process may open at the same time."""
    return _TABLE[name].sessions


def uses_device(name: str) -> bool:
    """Return True for a source that reads an app on an Android device."""
    return _TABLE[name].uses_device


def is_experimental(name: str) -> bool:
    """Return True for a source that may stop working any day; False for its demo data."""
    return name in _TABLE and _TABLE[name].is_experimental


def has_chosen_world(settings: Settings) -> bool:
    """Return True if the settings choose a world: by a profile, or a source with its own."""
    return settings.data_provider in OWN_WORLDS or bool((settings.profile or "").strip())


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
    forms = load_profile(_TABLE[name].addresses, sandbox_port=settings.sandbox_port)
    return forms.model_copy(update={"name": name})


def build_data_provider(
    settings: Settings,
    profile: PlatformProfile,
    *,
    control: "HostPolicyStore",
    limits: "HttpLimits | None" = None,
    bodies: "BodyArchive | None" = None,
    for_user: bool = False,
) -> Provider:
    """Build the source of users, posts and single videos; close it after use.

    `for_user` is for direct answers to users only: a sick source is then asked once all the same,
    and with `PUBLIC_FALLBACK_TO_MOCK` demo data replaces what the public source refuses.

    Raises:
        ProviderUnsupportedError: The source is unavailable in this release.
    """
    from pipelines.platform.providers.dependencies import ProviderDependencies  # noqa: PLC0415  # as above

    dependencies = ProviderDependencies(
        settings=settings,
        profile=profile,
        control=control,
        limits=limits,
        bodies=bodies,
        for_user=for_user,
    )
    return _build(data_provider_name(settings), dependencies)


def build_music_provider(
    settings: Settings,
    profile: PlatformProfile,
    *,
    control: "HostPolicyStore",
    limits: "HttpLimits | None" = None,
    bodies: "BodyArchive | None" = None,
    for_user: bool = False,
) -> Provider:
    """Build the source of music data, with its own client; close it after use.

    `for_user` as for `build_data_provider`; a scan never sets it, since it stores its results.

    Raises:
        ProviderUnsupportedError: The source is unavailable in this release.
    """
    from pipelines.platform.providers.dependencies import ProviderDependencies  # noqa: PLC0415  # as above

    dependencies = ProviderDependencies(
        settings=settings,
        profile=profile,
        control=control,
        limits=limits,
        bodies=bodies,
        for_user=for_user,
    )
    return _build(music_provider_name(settings), dependencies)


def build_song_source(
    settings: Settings,
    profile: PlatformProfile,
    *,
    control: "HostPolicyStore",
    limits: "HttpLimits | None" = None,
    bodies: "BodyArchive | None" = None,
) -> "MusicServicePublic | None":
    """Build the source of songs, with its own client; None if the world has no music service."""
    if data_provider_name(settings) in OWN_WORLDS:
        return None
    from pipelines.platform.providers.dependencies import ProviderDependencies  # noqa: PLC0415  # as above
    from pipelines.platform.providers.music_service import (  # noqa: PLC0415  # as above
        build_music_service,
    )

    return build_music_service(
        ProviderDependencies(
            settings=settings, profile=profile, control=control, limits=limits, bodies=bodies
        )
    )


def build_picture_source(
    settings: Settings, profile: PlatformProfile, *, control: "HostPolicyStore"
) -> "PictureSource | None":
    """Build the source of covers and avatars; None if the world has no picture hosts."""
    if data_provider_name(settings) in OWN_WORLDS or not profile.pictures.hosts:
        return None
    from pipelines.platform.pictures import PictureSource  # noqa: PLC0415  # as above
    from pipelines.platform.providers.dependencies import ProviderDependencies  # noqa: PLC0415  # as above

    dependencies = ProviderDependencies(settings=settings, profile=profile, control=control)
    return PictureSource(dependencies.guest())


def build_chart_provider(
    settings: Settings,
    profile: PlatformProfile,
    *,
    control: "HostPolicyStore",
    limits: "HttpLimits | None" = None,
    bodies: "BodyArchive | None" = None,
) -> ChartProvider:
    """Build the source of chart history, at the chart's own rate; close it after use.

    Raises:
        ProviderUnsupportedError: The configured source has its own world without a chart.
    """
    name = data_provider_name(settings)
    source = _TABLE[name]
    from pipelines.platform.providers.dependencies import ProviderDependencies  # noqa: PLC0415  # as above

    dependencies = ProviderDependencies(
        settings=settings,
        profile=profile.for_chart(),
        control=control,
        limits=limits,
        bodies=bodies,
    )
    if source.build_chart is not None:
        return source.build_chart(name, dependencies)
    if name in OWN_WORLDS:
        raise ProviderUnsupportedError(
            f"the source {name!r} has no chart", hint="set DATA_PROVIDER=vidplat-public"
        )
    from pipelines.platform.providers.chart_public import ChartPublic  # noqa: PLC0415  # as above

    return ChartPublic(dependencies.guest())


def _build(name: str, dependencies: "ProviderDependencies") -> Provider:
    source = _TABLE[name]
    if source.build is None:
        raise ProviderUnsupportedError(
            f"the source {name!r} cannot be used: {source.reason}",
            hint="set MUSIC_DATA_PROVIDER=public-graph and DATA_PROVIDER=vidplat-public",
        )
    built = source.build(name, dependencies)
    wants_stand_in = dependencies.for_user and dependencies.settings.public_fallback_to_mock
    return (
        _with_fallback(built, dependencies) if wants_stand_in and name not in OWN_WORLDS else built
    )
