"""One table of sources: every name of the settings is in it, and nothing else decides by name."""

import ast
import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

from pipelines.platform.providers import (
    build_chart_provider,
    build_provider,
    choose_profile,
    has_chosen_world,
    music_provider_name,
)
from pipelines.platform.providers.provider import ChartProvider, Provider, ProviderDependencies
from pipelines.settings import Settings
from warehouse.home import OWN_WORLDS, DataProvider, MusicProvider
from warehouse.records.errors import InvalidParameterError, ProviderUnsupportedError

ROOT = Path(__file__).parents[3]
DATA, MUSIC = get_args(DataProvider), get_args(MusicProvider)
NAMES = {*DATA, *MUSIC}
METHODS = [name for name in vars(Provider) if not name.startswith("_") and name != "name"]


BOOK: Any = object()  # nothing is asked of it


@pytest.fixture
def settings(tmp_path: Path) -> Any:
    """Settings of a machine that has what every source needs."""
    users, videos, chromium = tmp_path / "u.json", tmp_path / "v.json", tmp_path / "chromium"
    users.write_text("[]")
    videos.write_text("[]")
    chromium.write_text("#!/bin/sh\n")
    chromium.chmod(0o755)

    def make(**values: Any) -> Settings:
        return Settings(
            _env_file=None,
            **{
                "profile": "sandbox", "data_home": tmp_path, "mock_size": 0.1, "users_file": users,
                "videos_file": videos, "chromium_path": chromium,
                "mobileapp_device": "stand-in-1", **values,
            },
        )  # fmt: skip

    return make


def _dependencies(settings: Settings, *, for_user: bool = False) -> ProviderDependencies:
    return ProviderDependencies(
        settings=settings, profile=choose_profile(settings), control=BOOK, for_user=for_user
    )


@pytest.mark.parametrize("name", DATA)
async def test_every_data_provider_answers_under_its_own_name(name: str, settings: Any) -> None:
    chosen = settings(data_provider=name)
    provider = build_provider(
        chosen.data_provider,
        _dependencies(chosen),
    )
    await provider.aclose()
    assert provider.name == name
    assert all(callable(getattr(provider, method)) for method in METHODS)


@pytest.mark.parametrize("name", MUSIC)
async def test_every_music_provider_answers_under_its_own_name(name: str, settings: Any) -> None:
    chosen = settings(music_data_provider=name)
    provider = build_provider(
        music_provider_name(chosen),
        _dependencies(chosen),
    )
    await provider.aclose()
    assert provider.name == name
    assert all(callable(getattr(provider, method)) for method in METHODS)


def test_a_source_that_needs_a_device_says_what_to_do_where_none_is_named(settings: Any) -> None:
    chosen = settings(music_data_provider="mobileapp-guest", mobileapp_device=None)
    with pytest.raises(ProviderUnsupportedError, match="no Android device") as caught:
        build_provider(
            music_provider_name(chosen),
            _dependencies(chosen),
        )
    assert "MOBILEAPP_DEVICE" in str(caught.value.hint)


WITHOUT_THE_EXTRA = """
import sys
sys.modules["adbutils"] = None
from pipelines.platform.profiles import load_profile
from pipelines.platform.providers import build_provider, music_provider_name
from pipelines.platform.providers.provider import ProviderDependencies
from pipelines.settings import Settings
from warehouse.records.errors import ProviderUnsupportedError
profile = load_profile("sandbox", sandbox_port=1)
for name in ("public-graph", "mobileapp-guest"):
    chosen = Settings(
        _env_file=None, profile="sandbox", music_data_provider=name, mobileapp_device="stand-in-1"
    )
    try:
        dependencies = ProviderDependencies(settings=chosen, profile=profile, control=None)
        print(build_provider(music_provider_name(chosen), dependencies).name)
    except ProviderUnsupportedError as error:
        print(error.hint)
"""


def test_without_the_extra_its_source_says_so_and_every_other_works() -> None:
    """The default installation does not carry the library; nothing else loads it."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_THE_EXTRA],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    name, hint = done.stdout.splitlines()
    assert name == "public-graph"
    assert hint.startswith("install the extra from the wheel")
    assert ".whl[mobileapp]'`" in hint


@pytest.mark.parametrize("name", DATA)
def test_a_source_has_the_form_of_the_protocol(name: str, settings: Any) -> None:
    chosen = settings(data_provider=name)
    kind = type(
        build_provider(
            chosen.data_provider,
            _dependencies(chosen),
        )
    )
    for method in METHODS:
        wanted = list(inspect.signature(getattr(Provider, method)).parameters)
        assert list(inspect.signature(getattr(kind, method)).parameters) == wanted


@pytest.mark.parametrize("name", sorted(OWN_WORLDS))
def test_a_source_with_a_world_of_its_own_rules_everything(name: str, settings: Any) -> None:
    chosen = settings(data_provider=name, profile=None)
    assert has_chosen_world(chosen)
    assert choose_profile(chosen).name == music_provider_name(chosen) == name
    assert not has_chosen_world(settings(profile=None))


@pytest.mark.parametrize("name", sorted(OWN_WORLDS))
def test_provider_with_own_data_contacts_no_host(name: str, settings: Any) -> None:
    chosen = settings(data_provider=name, profile=None)
    given = _dependencies(chosen)
    with pytest.raises(InvalidParameterError, match="no host is contacted"):
        given.guest()


async def test_the_chart_of_the_demo_world_is_the_demo_worlds(settings: Any) -> None:
    demo, real, files = (settings(data_provider=name) for name in ("mock", "vidplat-web", "file"))
    chart: ChartProvider = build_chart_provider(_dependencies(demo))
    public = build_chart_provider(_dependencies(real))
    await public.aclose()
    assert (chart.name, public.name) == ("mock", "chart-public")
    with pytest.raises(ProviderUnsupportedError, match="has no chart"):
        build_chart_provider(_dependencies(files))


@pytest.mark.parametrize("name", ["vidplat-public", "browser-public", "vidplat-web"])
async def test_demo_data_stands_in_only_where_that_is_wanted_and_nothing_is_kept(
    name: str, settings: Any
) -> None:
    chosen = settings(data_provider=name, public_fallback_to_mock=True)
    off = settings(data_provider=name)
    kinds = []
    for values, may in ((chosen, True), (chosen, False), (off, True)):
        built = build_provider(
            values.data_provider,
            _dependencies(values, for_user=may),
        )
        await built.aclose()
        kinds.append(type(built).__name__ == "FallbackProvider")
    assert kinds == [True, False, False]


def test_only_the_provider_table_compares_source_names() -> None:
    """A comparison with a source's name elsewhere would be a second table."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for package in ("api", "pipelines", "sandbox", "warehouse")
        for path in (ROOT / package).rglob("*.py")
        if any(name in (text := path.read_text()) for name in NAMES)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Compare | ast.MatchValue) and _names_a_source(node)
    ]
    assert found == []


def _names_a_source(node: ast.AST) -> bool:
    words = {
        inner.value
        for inner in ast.walk(node)
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str)
    }
    return bool(words & NAMES)
