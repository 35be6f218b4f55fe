"""A feature whose extra is missing says which one, and how it is installed."""

import re
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from typer import Typer
from typer.testing import CliRunner

from api.cli.commands.report import report
from pipelines.doctor.checks import check_extras
from pipelines.platform.browser.installation import find_chromium
from pipelines.platform.profiles import load_profile
from pipelines.platform.providers import build_provider
from pipelines.platform.providers.provider import ProviderDependencies
from pipelines.settings import Settings
from warehouse.control.database import connect
from warehouse.extras import EXTRAS, missing_libraries, need_extra
from warehouse.records.errors import (
    InvalidParameterError,
    ProviderUnsupportedError,
    WarehouseUnavailableError,
)


@pytest.mark.parametrize("extra", EXTRAS)
def test_development_environment_has_every_extra(extra: str) -> None:
    assert missing_libraries(extra) == []


def test_a_missing_extra_is_named_with_its_library_and_its_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(InvalidParameterError) as caught:
        need_extra("analysis", "the report 'track'")
    assert caught.value.detail == (
        "the report 'track' needs the extra 'analysis'; not installed: altair"
    )
    wheel = f"./sametrack-{version('sametrack')}-py3-none-any.whl[analysis]"
    assert caught.value.hint == (
        f"install the extra from the wheel of this version: `pip install '{wheel}'`; "
        "in a checkout `make env` installs all"
    )


def test_an_extra_below_a_missing_package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warehouse.extras.EXTRAS", {"telemetry": ("no_such_package.part", "json")})
    assert missing_libraries("telemetry") == ["no_such_package.part"]


def test_a_control_store_in_postgresql_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(WarehouseUnavailableError, match="'postgres'"):
        connect("postgresql+psycopg://somebody@127.0.0.1:1/nothing")


def test_a_browser_names_its_extra_before_chromium(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "playwright", None)
    with pytest.raises(ProviderUnsupportedError, match="'browser'"):
        find_chromium(tmp_path / "none")


def test_the_source_with_a_browser_names_its_extra(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "playwright", None)
    chosen = Settings(
        _env_file=None, profile="sandbox", data_provider="browser-public", data_home=tmp_path
    )
    control: Any = None
    with pytest.raises(ProviderUnsupportedError, match="browser-public needs the extra"):
        build_provider(
            chosen.data_provider,
            ProviderDependencies(
                settings=chosen, profile=load_profile("sandbox", sandbox_port=1), control=control
            ),
        )


def test_reports_are_listed_without_the_extra_and_one_names_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for library in EXTRAS["analysis"]:
        monkeypatch.setitem(sys.modules, library, None)
    app = Typer()
    app.command()(report)
    listed = CliRunner().invoke(app, ["--list"])
    assert listed.exit_code == 0
    assert "track" in listed.output
    with pytest.raises(InvalidParameterError, match="'analysis'"):
        CliRunner().invoke(app, ["quality"], catch_exceptions=False)


def test_the_doctor_lists_the_extras_that_are_not_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "dagster_celery", None)
    found = check_extras()
    assert found.state == "ok"
    assert found.says.endswith("not installed: celery")
    assert "postgres" in found.says


def test_pages_name_the_wheel_of_this_version_and_no_package_of_an_index() -> None:
    root = Path(__file__).parents[2]
    pages = [root / "README.md", *sorted((root / "docs").glob("*.md"))]
    texts = "\n".join(path.read_text(encoding="utf-8") for path in pages)
    versions = set(re.findall(r"sametrack-(\d[\d.]*\d)-py3-none-any\.whl", texts))
    assert versions == {version("sametrack")}
    assert re.findall(r"pip install '?sametrack\b", texts) == []
