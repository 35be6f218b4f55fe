"""Faults planted in tables of a real lake, and what the checks of the orchestrator say of them."""

from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from dagster import (
    AssetCheckEvaluation,
    AssetCheckKey,
    AssetKey,
    AssetSelection,
    DagsterInstance,
    Definitions,
)
from deltalake import DeltaTable

from pipelines.orchestration.checks import TABLE_CHECKS
from pipelines.orchestration.definitions import build_definitions
from pipelines.orchestration.resources import ReviewResource
from warehouse.engine.duckdb_engine import Engine
from warehouse.home import open_home
from warehouse.lake.schema_evolution import VERSION
from warehouse.lake.store import Lake, open_lake
from warehouse.tables import BY_NAME

pytestmark = pytest.mark.full

NOW = datetime.now(UTC)
OLD = NOW - timedelta(days=3)
type Found = Mapping[str, AssetCheckEvaluation]


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    monkeypatch.setenv("PROFILE", "sandbox")
    monkeypatch.setenv("DATA_HOME", str(tmp_path))
    return open_lake(open_home(tmp_path, "sandbox").lake_url, world="sandbox")


def row(name: str, **given: object) -> dict[str, Any]:
    """A row that is all null but for what is required."""
    stand_ins: dict[str, object] = {
        "string": "a", "int64": 1, "bool": True, "double": 1.0, "binary": b"a", "date32[day]": None,
        "timestamp[us, tz=UTC]": OLD, "list<item: string>": [],
    }  # fmt: skip
    required = {
        column.name: stand_ins[str(column.type)] if column.required else None
        for column in BY_NAME[name].columns
    }
    return required | given


def checked(name: str, given: Definitions | None = None) -> tuple[Found, Mapping[str, Any]]:
    """What the checks of a table say, by their names, and what was observed of it."""
    step = f"check_{name.replace('.', '_')}"
    job = (given or build_definitions()).resolve_job_def("check_tables")
    with DagsterInstance.ephemeral() as instance:
        ended = job.execute_in_process(instance=instance, op_selection=[step])
    (observed,) = ended.asset_observations_for_node(step)
    found = {one.check_name: one for one in ended.get_asset_check_evaluations()}
    return found, {key: value.value for key, value in observed.metadata.items()}


def failed(found: Found) -> set[str]:
    return {name for name, one in found.items() if not one.passed}


def metadata_of(one: AssetCheckEvaluation) -> dict[str, Any]:
    return {name: value.value for name, value in one.metadata.items()}


def test_rows_as_they_should_be_pass_and_are_counted(lake: Lake) -> None:
    lake.append("marts.rankings", [row("marts.rankings", rank=n, committed_at=OLD) for n in (1, 2)])
    found, observed = checked("marts.rankings")
    assert failed(found) == set()
    assert metadata_of(found["keys_are_unique"]) == {"row_count": 2, "wrong_count": 0}
    assert (observed["dagster/row_count"], observed["files"]) == (2, 1)
    assert observed["rows_by_day"].startswith("`█`")


def test_a_key_that_comes_twice_is_told_with_the_key(lake: Lake) -> None:
    rows = [row("marts.rankings", job_id="j", rank=rank) for rank in (1, 2, 2, 2)]
    lake.append("marts.rankings", rows)
    found, _ = checked("marts.rankings")
    assert failed(found) == {"keys_are_unique"}
    assert found["keys_are_unique"].severity.value == "ERROR"
    assert metadata_of(found["keys_are_unique"]) == {
        "row_count": 4, "wrong_count": 1, "examples": [{"job_id": "j", "rank": 2, "times": 3}],
    }  # fmt: skip


def test_a_count_below_zero_is_told_with_its_row(lake: Lake) -> None:
    lake.append("marts.rankings", [row("marts.rankings", rank=1, digg_count=-1)])
    found, _ = checked("marts.rankings")
    assert failed(found) == {"numbers_are_not_negative"}
    assert metadata_of(found["numbers_are_not_negative"])["examples"] == [
        {"job_id": "a", "rank": 1}
    ]


def test_a_schema_version_that_is_not_the_agreed_one_is_told(lake: Lake) -> None:
    with closing(Engine(lake)) as engine:
        table = DeltaTable(lake.path("marts.coverage"))
        table.alter.set_table_properties({VERSION: "0"}, raise_if_not_exists=False)
        definitions = build_definitions(reviews=ReviewResource(lambda: engine))
        found, _ = checked("marts.coverage", definitions)
    assert failed(found) == {"schema_is_as_agreed"}
    assert (
        metadata_of(found["schema_is_as_agreed"])["says"] == "stored version 0, contract version 2"
    )


def test_table_check_reports_rows_with_times_in_the_future(lake: Lake) -> None:
    name = "raw.erasures"
    late = row(name, erasure_id="late", committed_at=NOW + timedelta(hours=1))
    lake.append(name, [late, row(name, erasure_id="well", committed_at=OLD)])
    found, _ = checked(name)
    assert failed(found) == {"times_are_past"}
    assert metadata_of(found["times_are_past"])["examples"] == [{"erasure_id": "late"}]


def test_rows_without_their_capture_are_a_warning_once_they_are_old(lake: Lake) -> None:
    name = "raw.capture_items"
    lake.append(name, [
        row(name, capture_id="gone", committed_at=OLD),
        row(name, capture_id="young", committed_at=NOW),
        row(name, capture_id="here", committed_at=OLD),
    ])  # fmt: skip
    lake.append("raw.captures", [row("raw.captures", capture_id="here", committed_at=NOW)])
    found, _ = checked(name)
    assert failed(found) == {"rows_have_their_capture"}
    assert found["rows_have_their_capture"].severity.value == "WARN"
    assert metadata_of(found["rows_have_their_capture"])["examples"] == [
        {"capture_id": "gone", "position": 1}
    ]


def test_a_body_that_no_capture_names_is_a_warning(lake: Lake) -> None:
    bodies = [row("raw.payloads", sha256=name, committed_at=OLD) for name in ("named", "lost")]
    lake.append("raw.payloads", bodies)
    lake.append("raw.captures", [row("raw.captures", payload_sha256="named", committed_at=NOW)])
    found, _ = checked("raw.payloads")
    assert failed(found) == {"rows_have_their_capture"}
    (example,) = metadata_of(found["rows_have_their_capture"])["examples"]
    assert example["sha256"] == "lost"


def test_a_body_that_two_processes_stored_at_once_is_no_fault(lake: Lake) -> None:
    for moment in (NOW, NOW - timedelta(milliseconds=1)):
        lake.append("raw.payloads", [row("raw.payloads", sha256="a", committed_at=moment)])
    assert failed(checked("raw.payloads")[0]) == set()


def test_captures_that_stopped_coming_are_a_warning_and_none_at_all_is_not(lake: Lake) -> None:
    assert failed(checked("raw.captures")[0]) == set()
    lake.append("raw.captures", [row("raw.captures", committed_at=OLD)])
    found, _ = checked("raw.captures")
    assert failed(found) == {"rows_are_fresh"}
    assert found["rows_are_fresh"].severity.value == "WARN"


def test_single_table_check_can_be_selected() -> None:
    assert all(one.can_subset for one in TABLE_CHECKS)
    key = AssetCheckKey(AssetKey(["raw", "videos"]), "keys_are_unique")
    graph = build_definitions().resolve_asset_graph()
    assert AssetSelection.checks(key).resolve_checks(graph) == {key}
