"""The one table of providers: which source answers, or why it does not in this release.

No `if provider ==` stands anywhere else. What belongs here: names, and how each source is built.
A source that brings a world of its own rules everything, because worlds never mix: users, music
and chart all come from it, and nothing is contacted.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pipelines.domain.errors import ProviderUnsupportedError
from pipelines.settings import Settings
from pipelines.upstream.http import HttpLimits
from pipelines.upstream.manners import PoliteBook
from pipelines.upstream.memory import Bodies
from pipelines.upstream.profiles import Profile, load_profile
from pipelines.upstream.providers.chart_public import ChartPublic
from pipelines.upstream.providers.protocol import ChartProvider, Provider
from pipelines.upstream.providers.supplies import Supplies
from pipelines.upstream.providers.vidplat_public import VidplatPublic

__all__ = [
    "ChartProvider",
    "Provider",
    "build_chart_provider",
    "build_data_provider",
    "build_music_provider",
    "choose_profile",
    "data_provider_name",
    "has_world",
    "music_provider_name",
    "supported_music_providers",
]

Build = Callable[[str, Supplies], Provider]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """One line of the table.

    Attributes:
        build: How the source is built; without it, `reason` says why it is not.
        world: The world that it brings along; None where the profile's is read.
        addresses: The profile whose forms of links its world uses; nothing there is contacted.
    """

    build: Build | None = None
    reason: str = ""
    world: str | None = None
    addresses: str = ""


def _public(name: str, supplies: Supplies) -> Provider:
    return VidplatPublic(supplies.guest(), name=name)


def _mock(name: str, supplies: Supplies) -> Provider:
    # Who never asks the invented world need not load it.
    from pipelines.upstream.providers.mock import build_mock  # noqa: PLC0415

    return build_mock(name, supplies)


_TABLE: Mapping[str, _Source] = {
    "public-graph": _Source(build=_public),
    "vidplat-public": _Source(build=_public),
    "browser-public": _Source(
        reason="reading through a local browser is not part of this release"
    ),
    "mobileapp-guest": _Source(
        reason="reading through the platform's app in an emulator comes in a later release"
    ),
    "vidplat-web": _Source(reason="the experimental web surfaces are not part of this release"),
    "mock": _Source(build=_mock, world="mock", addresses="sandbox"),
    "file": _Source(reason="reading from files is not part of this release", world="file",
                    addresses="public"),
}  # fmt: skip


def supported_music_providers() -> frozenset[str]:
    """Names that `build_music_provider` can build."""
    return frozenset(name for name, source in _TABLE.items() if source.build is not None)


def data_provider_name(settings: Settings) -> str:
    """The source of users, posts and single works that the settings choose."""
    return settings.data_provider


def music_provider_name(settings: Settings) -> str:
    """The source of music data that the settings choose."""
    rules_everything = _TABLE[settings.data_provider].world is not None
    return settings.data_provider if rules_everything else settings.music_data_provider


def has_world(settings: Settings) -> bool:
    """True when it is settled which world is worked in: a profile, or a source with its own."""
    return _TABLE[settings.data_provider].world is not None or bool(
        (settings.profile or "").strip()
    )


def choose_profile(settings: Settings) -> Profile:
    """The platform profile of the world that the settings choose; its name is the world's.

    Raises:
        ProfileNotChosenError: No profile is chosen, and the source brings no world of its own.
        InvalidParameterError: There is no such profile.
    """
    source = _TABLE[settings.data_provider]
    if source.world is None:
        return load_profile(settings.profile, sandbox_port=settings.sandbox_port)
    forms = load_profile(source.addresses, sandbox_port=settings.sandbox_port)
    return forms.model_copy(update={"name": source.world})


def build_data_provider(
    settings: Settings,
    profile: Profile,
    *,
    control: PoliteBook,
    limits: HttpLimits | None = None,
    bodies: Bodies | None = None,
) -> Provider:
    """The source of users, posts and single works; close it after use.

    Raises:
        ProviderUnsupportedError: This release cannot read from it.
    """
    supplies = Supplies(
        settings=settings, profile=profile, control=control, limits=limits, bodies=bodies
    )
    return _build(data_provider_name(settings), supplies)


def build_music_provider(
    settings: Settings,
    profile: Profile,
    *,
    control: PoliteBook,
    limits: HttpLimits | None = None,
    bodies: Bodies | None = None,
) -> Provider:
    """The source of music scans, with a client of its own; close it after use.

    Raises:
        ProviderUnsupportedError: This release cannot read from it.
    """
    supplies = Supplies(
        settings=settings, profile=profile, control=control, limits=limits, bodies=bodies
    )
    return _build(music_provider_name(settings), supplies)


def build_chart_provider(
    settings: Settings,
    profile: Profile,
    *,
    control: PoliteBook,
    limits: HttpLimits | None = None,
    bodies: Bodies | None = None,
) -> ChartProvider:
    """The source of chart history, at the chart's own rate; close it after use.

    Raises:
        ProviderUnsupportedError: The source that rules everything brings no chart.
    """
    name = settings.data_provider
    if _TABLE[name].world is not None:
        raise ProviderUnsupportedError(
            f"the source {name!r} brings no chart", hint="set DATA_PROVIDER=vidplat-public"
        )
    supplies = Supplies(
        settings=settings,
        profile=profile.for_chart(),
        control=control,
        limits=limits,
        bodies=bodies,
    )
    return ChartPublic(supplies.guest())


def _build(name: str, supplies: Supplies) -> Provider:
    source = _TABLE[name]
    if source.build is None:
        raise ProviderUnsupportedError(
            f"the source {name!r} cannot be used: {source.reason}",
            hint="set MUSIC_DATA_PROVIDER=public-graph and DATA_PROVIDER=vidplat-public",
        )
    return source.build(name, supplies)
