"""A store of the first release opens, is migrated once, and gives the same exports.

Only what its surfaces did not show is unknown now, not empty.
"""

import csv
import io
import tarfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pipelines.parameters.scan import ScanParameters
from pipelines.scan.rules.results import view_result
from pipelines.watchlists.changes import to_observation
from warehouse.control import ControlStore, jobs, open_control, watchlists
from warehouse.control.migrations import MIGRATIONS
from warehouse.engine.duckdb_engine import Engine
from warehouse.exports.export_table import columns_of, rows_of
from warehouse.exports.extracts import ALL_TABLES, ExportScope, choose_extracts, read_batches
from warehouse.exports.pseudonyms import Pseudonyms, open_pseudonyms
from warehouse.exports.table_files import csv_parts
from warehouse.home import Home, open_home
from warehouse.lake.store import open_lake
from warehouse.queries.results import read_result_document

pytestmark = pytest.mark.full

DATA = Path(__file__).parents[1] / "data/first_release"
TRACK = "7410369778457395648"
FIRST_VERSION = 4


def unpack(name: str, folder: Path) -> Path:
    with tarfile.open(DATA / name) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """The home of the first release, opened by nobody since."""
    return open_home(unpack("store.tar.xz", tmp_path_factory.mktemp("store")) / "home", "sandbox")


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack("exports.tar.xz", tmp_path_factory.mktemp("exports"))


@pytest.fixture(scope="module")
def control(home: Home) -> Iterator[ControlStore]:
    with closing(open_control(home.control_url, world=home.world)) as opened:
        yield opened


@pytest.fixture(scope="module")
def engine(home: Home) -> Iterator[Engine]:
    with closing(Engine(open_lake(home.lake_url, world=home.world))) as opened:
        yield opened


def exported(engine: Engine, pseudonyms: Pseudonyms | None) -> dict[str, bytes]:
    """Every table as `sametrack export --bom` writes it: the first release escaped formulas."""
    files = {}
    for extract in choose_extracts(ALL_TABLES, ExportScope()):
        batches = list(read_batches(engine, extract, pseudonyms=pseudonyms))
        lines = csv_parts(columns_of(batches[0].schema), rows_of(batches), for_spreadsheets=True)
        files[f"{extract.table.name.replace('.', '_')}.csv"] = b"".join(lines)
    return files


def cells(body: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(body.decode("utf-8-sig"), newline="")))


def differences(engine: Engine, before: Path, pseudonyms: Pseudonyms | None) -> list[str]:
    """Tables whose rows differ in the columns that the first release exported."""
    after = exported(engine, pseudonyms)
    differ = []
    for path in sorted(before.iterdir()):
        old, new = cells(path.read_bytes()), cells(after[path.name])
        if path.name == "raw_videos.csv":
            old = [with_unknown_values(row) for row in old]
        if old != [{name: row[name] for name in old[0]} for row in new]:
            differ.append(path.name)
    return differ


def with_unknown_values(row: dict[str, str]) -> dict[str, str]:
    """Return a row of that release without the values that its surface does not show."""
    if row["surface"] not in {"music_list", "user_posts"}:
        return row
    unknown = [name for name in ("hashtag_ids", "hashtag_names") if row.get(name) == "[]"]
    if row["surface"] == "user_posts" and row["media_type"] == "video":
        unknown += ["media_type", "images_count"]
    return row | dict.fromkeys(unknown, "")


def lake_versions(home: Home) -> dict[str, int]:
    lake = open_lake(home.lake_url, world=home.world)
    return {table.name: lake.version(table.name) for table in lake.tables}


def test_exports_are_those_of_the_first_release(engine: Engine, expected: Path) -> None:
    assert differences(engine, expected / "plain", None) == []


@pytest.mark.soak
def test_pseudonymised_exports_are_those_of_the_first_release(
    engine: Engine, expected: Path, home: Home
) -> None:
    assert differences(engine, expected / "pseudonymised", open_pseudonyms(home)) == []


def test_the_control_store_is_migrated_once_and_copied_before(
    control: ControlStore, home: Home
) -> None:
    copy = home.root / f"control.sqlite.version-{FIRST_VERSION}"
    assert control.schema_version() == MIGRATIONS[-1].number > FIRST_VERSION
    copy.unlink()
    with closing(open_control(home.control_url, world=home.world)) as again:
        assert again.schema_version() == control.schema_version()
    assert not copy.exists()


def test_tables_of_the_lake_are_migrated_once(engine: Engine, home: Home) -> None:
    first = {table.name: engine.lake.version(table.name) for table in engine.lake.tables}
    assert lake_versions(home) == first


def test_jobs_and_their_results_are_read(control: ControlStore, engine: Engine) -> None:
    stored = jobs.newest(control, limit=10)
    assert [job.status for job in stored] == ["completed", "completed"]
    for job in stored:
        document: Any = read_result_document(engine, job.job_id)
        assert document is not None
        view = view_result(document, ScanParameters())
        ranked = engine.rows(
            "select aweme_id from marts.rankings where job_id = $id order by rank", id=job.job_id
        )
        assert view["music_id"] == TRACK
        assert [video["aweme_id"] for video in view["aweme_list"]] == [
            row["aweme_id"] for row in ranked
        ]


def test_a_watchlist_goes_on_from_its_last_observation(control: ControlStore) -> None:
    watchlist = watchlists.get(control, "first")
    assert watchlist is not None
    assert [entry.input for entry in watchlist.plan.entries] == [TRACK]
    (run,) = watchlists.newest_runs(control, "first", limit=5)
    assert run.digest is not None
    assert run.digest["completed_count"] == 1
    stored = watchlists.last_observation(
        control, "first", "track", TRACK, before_run="the next one"
    )
    assert stored is not None
    assert len(to_observation(stored).works) == 11
