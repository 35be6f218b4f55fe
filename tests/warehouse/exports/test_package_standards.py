"""A data package is valid by the tools of its standards, plain and pseudonymised."""

import hashlib
import json
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from warehouse.engine.duckdb_engine import Engine
from warehouse.exports.data_package import write_package
from warehouse.exports.extracts import ALL_TABLES, ExportScope, choose_extracts
from warehouse.exports.method_sheet import describe_method
from warehouse.exports.pseudonyms import Pseudonyms
from warehouse.home import open_home
from warehouse.lake.store import open_lake

pytestmark = pytest.mark.full

STORE = Path(__file__).parents[2] / "data" / "first_release" / "store.tar.xz"
VALIDATE_AND_READ = """
import json, sys
import mlcroissant
from mlcroissant.scripts.cli import main
try:
    main()
except SystemExit as ended:
    if ended.code:
        raise
found = mlcroissant.Dataset("croissant.json").records("marts_rankings")
print(json.dumps(next(iter(found)), default=str))
"""


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("store")
    with tarfile.open(STORE) as archive:
        archive.extractall(folder, filter="data")
    home = open_home(folder / "home", "sandbox")
    lake = open_lake(home.lake_url, world=home.world)
    with closing(Engine(lake, as_of=datetime.now(UTC))) as opened:
        yield opened


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("plain", marks=pytest.mark.soak),  # `make validate-package` is one
        "pseudonymised",
    ],
)
def package(
    engine: Engine, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Path:
    """The unpacked package of everything."""
    pseudonyms = Pseudonyms(b"k" * 32) if request.param == "pseudonymised" else None
    scope, folder = ExportScope(), tmp_path_factory.mktemp("package")
    extracts = choose_extracts(ALL_TABLES, scope)
    method = describe_method(engine, extracts, scope, is_pseudonymised=pseudonyms is not None)
    write_package(folder / "p.zip", engine, extracts, method, scope=scope, pseudonyms=pseudonyms)
    with zipfile.ZipFile(folder / "p.zip") as archive:
        archive.extractall(folder / "p")
    return folder / "p"


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a tool as its users do; its own warnings are not ours."""
    return subprocess.run(
        [sys.executable, "-W", "ignore", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_error_sheet_of_the_newest_scan_is_filled(package: Path) -> None:
    page = (package / "error_sheet.md").read_text("utf-8")
    assert page.count("## Job ") >= 1
    assert "confirmed videos of" in page
    assert "Not known to Sametrack" in page


@pytest.mark.soak  # `make validate-package` asks both validators about a plain package
def test_frictionless_finds_no_error(package: Path) -> None:
    said = run("-m", "frictionless", "validate", "datapackage.json", "--json", folder=package)
    report = json.loads(said.stdout)
    assert report["valid"], [task["errors"] for task in report["tasks"] if task["errors"]][:3]
    assert report["stats"]["errors"] == 0
    assert report["stats"]["tasks"] > 20


@pytest.mark.soak  # as above
def test_croissant_is_valid_and_its_records_are_read(package: Path) -> None:
    asked = ("validate", "--jsonld", "croissant.json")
    done = run("-c", VALIDATE_AND_READ, *asked, folder=package)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout.splitlines()[-1])
    assert (record["marts_rankings/rank"], record["marts_rankings/digg_count"]) == (1, 15389)
    assert "Found the following 1 error" not in done.stderr


def test_both_descriptions_say_how_to_cite_the_data_and_what_readers_may_do(package: Path) -> None:
    frictionless = json.loads((package / "datapackage.json").read_bytes())
    croissant = json.loads((package / "croissant.json").read_bytes())
    assert frictionless["citation"] == croissant["citeAs"]
    assert frictionless["citation"] in (package / "README.md").read_text("utf-8")
    assert frictionless["rights"] == croissant["license"]
    assert frictionless["rights"].startswith("Generated demo data")


def test_the_checksums_cover_every_file_but_their_own(package: Path) -> None:
    files = {str(path.relative_to(package)) for path in package.rglob("*") if path.is_file()}
    lines = (package / "checksums.sha256").read_text().splitlines()
    sums = {name: sha256 for sha256, name in (line.split("  ") for line in lines)}
    assert sums == {
        name: hashlib.sha256((package / name).read_bytes()).hexdigest()
        for name in files - {"checksums.sha256"}
    }
