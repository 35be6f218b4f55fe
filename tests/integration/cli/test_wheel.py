"""The wheel contains everything that the product reads at run time, and nothing of its user."""

import hashlib
import os
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from tests.wheels import build_wheel, tracked
from warehouse.extras import EXTRAS

NEEDED = {
    "api/console/index.html", "api/console/app/main.js", "notebooks/reports/track.ipynb",
    "pipelines/orchestration/dagster.yaml",
    "pipelines/orchestration/workspace.yaml",
    "pipelines/platform/profiles/public.toml", "pipelines/platform/profiles/sandbox.toml",
    "warehouse/analysis/named_queries/videos/top-videos.sql",
}  # fmt: skip


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("wheel"))


def names_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_every_file_of_the_product_is_in_it(wheel: Path) -> None:
    names = names_in(wheel)
    assert sorted(NEEDED - names) == []
    product = {name for name in tracked() if "/" in name}
    assert sorted(product - names) == []


def test_nothing_that_a_user_collected_is_in_it(wheel: Path) -> None:
    packages = {"api", "notebooks", "pipelines", "sandbox", "warehouse"}
    others = [name for name in names_in(wheel) if name.partition("/")[0] not in packages]
    assert all(".dist-info/" in name for name in others)
    assert [name for name in names_in(wheel) if name.startswith("warehouse/data")] == []


def test_it_is_the_same_when_it_is_built_elsewhere_at_another_time(
    wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    copy = tmp_path_factory.mktemp("a folder with another name")
    again = build_wheel(copy, tmp_path_factory.mktemp("wheel"), age_s=400 * 86_400)
    assert again.name == wheel.name
    assert (
        hashlib.sha256(again.read_bytes()).digest() == hashlib.sha256(wheel.read_bytes()).digest()
    )


def test_it_names_the_command_and_the_extras(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        info = next(name for name in archive.namelist() if name.endswith("/METADATA"))
        metadata = Parser().parsestr(archive.read(info).decode())
        scripts = archive.read(info.replace("METADATA", "entry_points.txt")).decode()
    assert set(metadata.get_all("Provides-Extra") or []) >= {*EXTRAS, "s3"}
    assert "sametrack = api.cli.main:main" in scripts.replace("sametrack=", "sametrack = ")


def test_reports_and_the_orchestrator_find_their_files_in_it(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    code = """
import pipelines
from pipelines.reports.catalogue import NOTEBOOKS
from pipelines.orchestration.instance import TEMPLATE
from warehouse.analysis.query_library import named_queries
print(pipelines.__path__[0])
print(len(list(NOTEBOOKS.glob("*.ipynb"))), len(named_queries()))
print(TEMPLATE.is_file())
"""
    said = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    place, counts, is_file = said.stdout.splitlines()
    assert place == str(tmp_path / "pipelines")
    assert (counts, is_file) == ("6 21", "True")
