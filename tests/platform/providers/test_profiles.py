"""Platform profiles are typed, complete and honest about where they lead."""

from pathlib import Path

import pytest

from pipelines.platform.profiles import KNOWN_PROFILES, SurfacePaths, load_profile
from warehouse.records.errors import InvalidParameterError, ProfileNotChosenError


@pytest.mark.parametrize("nothing", [None, "", "  "])
def test_no_profile_chosen_is_said_so(nothing: str | None) -> None:
    with pytest.raises(ProfileNotChosenError) as caught:
        load_profile(nothing, sandbox_port=8790)
    assert "sandbox" in str(caught.value.hint)


@pytest.mark.parametrize("name", KNOWN_PROFILES)
def test_known_profile_is_valid_and_named_after_its_file(name: str) -> None:
    assert load_profile(name, sandbox_port=8790).name == name


def test_sandbox_is_plain_http_on_its_port_and_marked_as_a_demo() -> None:
    sandbox = load_profile("sandbox", sandbox_port=9999)
    assert sandbox.address("music_info").startswith("http://share.vidplat.localhost:9999/")
    assert sandbox.is_demo


def test_public_is_https_with_no_pin_and_the_polite_rate() -> None:
    public = load_profile("public", sandbox_port=8790)
    assert public.address("music_info").startswith("https://")
    assert (public.pins, public.is_demo) == ({}, False)
    assert (public.rate.per_second, public.rate.burst, public.rate.parallel) == (2.0, 5, 4)


def _changed(tmp_path: Path, old: str, new: str) -> Path:
    text = (Path(load_profile.__code__.co_filename).parent / "public.toml").read_text("utf-8")
    assert old in text
    path = tmp_path / "own.toml"
    path.write_text(text.replace(old, new), "utf-8")
    return path


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ('scheme = "https"', 'scheme = "gopher"', "scheme"),
        ("parallel = 4", "parallel = 0", "rate.parallel"),
        ("per_second = 2.0", 'per_second = 2.0\nspeed = "fast"', "rate.speed"),
        ('name = "public"', 'name = "../up"', "name"),
        ('video_page = "/share', 'video_page = "http://evil/share', "paths.video_page"),
    ],
)
def test_invalid_profile_names_the_field(tmp_path: Path, old: str, new: str, where: str) -> None:
    with pytest.raises(InvalidParameterError, match=where):
        load_profile(_changed(tmp_path, old, new), sandbox_port=8790)


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1"])
def test_only_the_sandbox_may_name_loopback(tmp_path: Path, address: str) -> None:
    pins = f'[pins]\n"a.example.com" = "{address}"\n[rate]'
    with pytest.raises(InvalidParameterError, match="not a public address"):
        load_profile(_changed(tmp_path, "[rate]", pins), sandbox_port=8790)


def test_missing_file_is_named_without_its_folder(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        load_profile(tmp_path / "nowhere.toml", sandbox_port=8790)
    assert str(tmp_path) not in caught.value.detail


@pytest.mark.parametrize(
    ("surface", "ids", "address"),
    [
        ("hashtag_info", {}, "http://share.vidplat.localhost:8790/web/api/v2/challenge/info/"),
        ("search_page", {"term": "晚风 live"}, "/search/%E6%99%9A%E9%A3%8E%20live"),
        ("search_page", {"term": "../a?b"}, "/search/..%2Fa%3Fb"),
        ("search_stream", {}, "http://www.vidplat.localhost:8790/aweme/v1/web/general/search"),
        ("chart_songs", {}, "http://chart.chartsrc.localhost:8790/api/v3/rank/song"),
        ("chart_latest", {}, "http://m.chartsrc.localhost:8790/rank/info/"),
        ("chart_html", {"page": "1", "rank_id": "8888"}, "/yy/rank/home/1-8888.html"),
    ],
)
def test_each_surface_is_asked_on_its_own_host(
    surface: str, ids: dict[str, str], address: str
) -> None:
    sandbox = load_profile("sandbox", sandbox_port=8790)
    assert address in sandbox.address(surface, **ids)


def test_every_surface_has_a_host_in_every_profile() -> None:
    for name in KNOWN_PROFILES:
        profile = load_profile(name, sandbox_port=8790)
        assert all(profile.host_of(surface) for surface in SurfacePaths.model_fields)


def test_chart_has_a_rate_of_its_own_and_is_asked_plainly_where_it_must() -> None:
    public = load_profile("public", sandbox_port=8790)
    assert public.for_chart().rate == public.chart_rate
    assert (public.chart_rate.per_second, public.rate.per_second) == (5.0, 2.0)
    for surface in ("chart_issues", "chart_songs", "chart_latest"):
        assert public.address(surface).startswith("https://"), surface
    old = public.address("chart_html_old", page="1", rank_id="8888", volid="1")
    assert old.startswith("http://")
    assert public.scheme_and_port(public.hosts.chart_old) == ("http", 80)
    assert public.scheme_and_port(public.hosts.chart) == ("https", 443)
