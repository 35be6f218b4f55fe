"""A profile patch adds what an operator has reviewed, and never loosens a rule."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from pipelines.platform.call_trace import HttpResponse
from pipelines.platform.http.client import GuestClient
from pipelines.platform.parsers.links import host_matches
from pipelines.platform.profiles import PlatformProfile, load_profile
from pipelines.platform.providers import choose_profile
from pipelines.platform.providers.vidplat_public import VidplatPublic
from pipelines.settings import Settings
from tests.platform.shape_answers import Shape
from warehouse.records.errors import ForbiddenError, InvalidParameterError, SametrackError

Scripted = Callable[[Sequence[HttpResponse | SametrackError]], GuestClient]


def _patched(tmp_path: Path, text: str, *, name: str = "public") -> PlatformProfile:
    path = tmp_path / "patch.toml"
    path.write_text(f'for_profile = "{name}"\n{text}', "utf-8")
    return load_profile(name, sandbox_port=8790, patch=path)


def test_a_patch_adds_hosts_and_keeps_those_of_the_profile(tmp_path: Path) -> None:
    plain = load_profile("public", sandbox_port=8790)
    patched = _patched(tmp_path, '[media]\nhosts = [".cdn-one.example"]')
    assert host_matches("v3.cdn-one.example", patched.media.hosts)
    assert set(plain.media.hosts) < set(patched.media.hosts)
    assert patched.model_copy(update={"media": plain.media}) == plain


def test_scripts_and_redirects_have_lists_of_their_own(tmp_path: Path) -> None:
    text = '[browser]\nhosts = ["s.scripts.example"]\n[links]\nredirect = ["new.pages.example"]'
    patched = _patched(tmp_path, text)
    assert "s.scripts.example" in patched.browser.hosts
    assert "new.pages.example" in patched.links.redirect
    assert "s.scripts.example" not in (*patched.media.hosts, *patched.links.redirect)


def test_a_patch_may_slow_requests_down(tmp_path: Path) -> None:
    patched = _patched(tmp_path, "[rate]\nper_second = 0.5\nburst = 1")
    assert (patched.rate.per_second, patched.rate.burst, patched.rate.parallel) == (0.5, 1, 4)
    assert patched.chart_rate.per_second == 0.5


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[rate]\nper_second = 50.0", "raises per_second"),
        ("[rate]\nparallel = 5", "raises parallel"),
        ('[media]\nhosts = ["127.0.0.1"]', "address"),
        ('[media]\nhosts = ["10.0.0.0x1"]', "address"),
        ('[media]\nhosts = [".com.cn"]', "many owners"),
        ('[media]\nhosts = [".cn"]', "media.hosts.0"),
        ('[media]\nhosts = ["user@host.example"]', "media.hosts.0"),
        ('[media]\nhosts = ["printer.local"]', "of this network"),
        ('[browser]\nhosts = ["metadata.google.internal"]', "of this network"),
        ('[links]\nredirect = ["share.vidplat.localhost"]', "of this network"),
        ('[surfaces]\noff = ["robots"]', "unknown surfaces"),
        ('[hosts]\nweb = "elsewhere.example"', "hosts"),
        ('[pins]\n"a.example.com" = "8.8.8.8"', "pins"),
        ('[markers]\nverification_path = "/nothing"', "markers"),
        ("[circuit]\nopen_s = 0.1", "circuit"),
        ('scheme = "http"', "scheme"),
    ],
)  # fmt: skip
def test_a_patch_that_loosens_a_rule_is_refused(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(InvalidParameterError, match=why):
        _patched(tmp_path, text)


def test_a_redirect_to_another_region_stays_an_answer(tmp_path: Path) -> None:
    region = load_profile("public", sandbox_port=8790).links.region[0].lstrip(".")
    with pytest.raises(InvalidParameterError, match="another region"):
        _patched(tmp_path, f'[links]\nredirect = ["www.{region}"]')


def test_the_sandbox_is_patched_with_loopback_names_alone(tmp_path: Path) -> None:
    patched = _patched(tmp_path, '[media]\nhosts = ["cdn.vidplat.localhost"]', name="sandbox")
    assert "cdn.vidplat.localhost" in patched.media.hosts
    with pytest.raises(InvalidParameterError, match="outside of the sandbox"):
        _patched(tmp_path, '[media]\nhosts = ["cdn.example.com"]', name="sandbox")


def test_a_patch_of_another_profile_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "patch.toml"
    path.write_text('for_profile = "sandbox"\n', "utf-8")
    with pytest.raises(InvalidParameterError, match="'sandbox'"):
        load_profile("public", sandbox_port=8790, patch=path)


@pytest.mark.parametrize("text", ["[media", "\x00"])
def test_an_unreadable_patch_is_named_without_its_folder(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidParameterError, match=r"patch\.toml") as caught:
        _patched(tmp_path, text)
    assert str(tmp_path) not in caught.value.detail


def test_the_setting_names_the_patch(tmp_path: Path) -> None:
    path = tmp_path / "patch.toml"
    path.write_text('for_profile = "sandbox"\n[surfaces]\noff = ["search_stream"]\n', "utf-8")
    settings = Settings(_env_file=None, profile="sandbox", profile_patch=path)
    assert choose_profile(settings).surfaces.off == ("search_stream",)
    assert choose_profile(Settings(_env_file=None, profile="sandbox")).surfaces.off == ()


async def test_a_surface_that_is_off_is_not_requested(tmp_path: Path, scripted: Scripted) -> None:
    client = scripted([])
    client.profile = _patched(tmp_path, '[surfaces]\noff = ["music_info"]', name="sandbox")
    with pytest.raises(ForbiddenError) as caught:
        await VidplatPublic(client, name="public-graph").fetch_track("7361234567890123457")
    assert (caught.value.reason, "PROFILE_PATCH" in (caught.value.hint or "")) == (
        "surface_off",
        True,
    )


async def test_another_source_answers_for_a_surface_that_is_off(
    tmp_path: Path, scripted: Scripted, shape_named: Callable[[str], Shape]
) -> None:
    shape = shape_named("slides_info/video.json")
    client = scripted([shape.answer("slides_info")])
    client.profile = _patched(tmp_path, '[surfaces]\noff = ["video_page"]', name="sandbox")
    found = await VidplatPublic(client, name="public-graph").fetch_video(shape.asked)
    assert found.surface == "slides_info"
