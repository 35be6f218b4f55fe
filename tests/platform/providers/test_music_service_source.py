"""The source for songs is there for a platform with a music service, and for no other."""

from typing import Any, cast

from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers import build_song_source
from pipelines.platform.providers.music_service import MusicServicePublic
from pipelines.platform.providers.provider import ProviderDependencies
from pipelines.settings import Settings

NEVER_ASKED = cast("Any", None)


def source_of(profile: PlatformProfile) -> MusicServicePublic | None:
    return build_song_source(
        ProviderDependencies(
            settings=Settings(_env_file=None), profile=profile, control=NEVER_ASKED
        )
    )


def test_a_platform_without_a_music_service_has_no_source_for_songs(
    profile: PlatformProfile,
) -> None:
    hosts = profile.hosts.model_copy(update={"music_service": None})
    assert source_of(profile.model_copy(update={"hosts": hosts})) is None


async def test_a_platform_with_a_music_service_has_one(profile: PlatformProfile) -> None:
    source = source_of(profile)
    assert source is not None
    await source.aclose()
