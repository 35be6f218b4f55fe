"""A patch of the user adds the hosts that a profile lacks: what the link gate refused is read."""

from contextlib import aclosing, closing
from pathlib import Path
from typing import Any

import pytest

from pipelines.platform.profiles import load_profile
from pipelines.platform.providers import build_provider, choose_profile
from pipelines.platform.providers.provider import ProviderDependencies
from pipelines.settings import Settings
from tests.deployment import LOCAL
from warehouse.control import open_control
from warehouse.home import open_home
from warehouse.records.errors import SametrackError
from warehouse.records.videos import Video

pytestmark = pytest.mark.full

SANDBOX = (Path(load_profile.__code__.co_filename).parent / "sandbox.toml").read_text("utf-8")
OTHER_HOST = '"v3.cdnplat.localhost"'


@pytest.fixture
def lacking(tmp_path: Path) -> Path:
    """The sandbox's profile without a host of its delivery network."""
    assert OTHER_HOST in SANDBOX
    path = tmp_path / "lacking.toml"
    path.write_text(SANDBOX.replace(f", {OTHER_HOST}", "").replace(OTHER_HOST, ""), "utf-8")
    return path


async def read_sound(port: int, home: Path, **values: Any) -> str:
    """What becomes of the sound of a video: its suffix, or the type of the error."""
    settings = Settings(_env_file=None, sandbox_port=port, data_home=home, **values)
    profile = choose_profile(settings)
    opened = open_home(settings.data_home, profile.name)
    tracks = LOCAL.get(f"http://127.0.0.1:{port}/_world/tracks?limit=1&counts=0").json()["tracks"]
    with closing(open_control(opened.control_url, world=opened.world)) as control:
        async with aclosing(
            build_provider(
                settings.data_provider,
                ProviderDependencies(settings=settings, profile=profile, control=control),
            )
        ) as provider:
            detail = (await provider.fetch_video(tracks[0]["aweme_id"])).value
            assert isinstance(detail, Video)
            try:
                return (await provider.download_sound(detail, home)).path.suffix
            except SametrackError as error:
                return error.type


async def test_a_sound_on_a_host_that_the_profile_lacks_is_read_with_a_patch(
    platform: int, lacking: Path, tmp_path: Path
) -> None:
    switches = f"http://127.0.0.1:{platform}/_world/switches"
    LOCAL.post(switches, json={"switches": ["media_other_host"]}).raise_for_status()
    patch = tmp_path / "patch.toml"
    name = load_profile(str(lacking), sandbox_port=platform).name
    patch.write_text(f'for_profile = "{name}"\n[media]\nhosts = [{OTHER_HOST}]\n', "utf-8")
    try:
        before = await read_sound(platform, tmp_path / "before", profile=str(lacking))
        after = await read_sound(
            platform, tmp_path / "after", profile=str(lacking), profile_patch=patch
        )
    finally:
        LOCAL.delete(switches).raise_for_status()
    assert (before, after) == ("upstream_substitution", ".mp4")
