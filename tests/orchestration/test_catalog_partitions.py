"""Catalogues in Dagster: a partition each, and runs requested by stock means."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from dagster import (
    DagsterInstance,
    DeleteDynamicPartitionsRequest,
    ExecuteInProcessResult,
    SensorResult,
    SkipReason,
    build_sensor_context,
)

from pipelines.catalog.run_requests import is_run_requested, request_run
from pipelines.catalog.service import CatalogService, CatalogStatus
from pipelines.orchestration.catalog_runs import catalog_partitions
from pipelines.orchestration.definitions import build_definitions
from pipelines.orchestration.resources import CatalogResource
from warehouse.control import ControlStore, catalogs, open_control
from warehouse.home import open_home
from warehouse.records.catalogs import ImportedTrack
from warehouse.records.errors import ProfileNotChosenError
from warehouse.records.videos import ServiceSongList


@dataclass
class Catalogs:
    """Catalogues of a store that is open already."""

    control: ControlStore

    def names(self) -> list[str]:
        return [catalog.name for catalog in catalogs.read_all(self.control)]

    def request_run(self, name: str) -> CatalogStatus:
        status = CatalogService(
            control=self.control, find_target=lambda _: None, read_songs=_no_songs, song_link=str
        ).status(name)
        request_run(self.control, name)
        return status


class NoProfile:
    """No profile is chosen."""

    def names(self) -> list[str]:
        raise ProfileNotChosenError("No platform profile is chosen")


def _no_songs(kind: str, list_id: str) -> ServiceSongList:
    raise AssertionError((kind, list_id))


@pytest.fixture
def instance() -> Iterator[DagsterInstance]:
    with DagsterInstance.ephemeral() as made:
        yield made


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[Catalogs]:
    with closing(open_control(f"sqlite:///{tmp_path / 'control.sqlite'}", world="test")) as control:
        for name in ("albums", "songs"):
            catalogs.change(control, name, {})
            catalogs.import_tracks(control, name, [ImportedTrack(key="music:10000", input="10000")])
        yield Catalogs(control)


def look(catalogs: object, instance: DagsterInstance) -> SensorResult | SkipReason:
    context = build_sensor_context(instance=instance, resources={"catalog": catalogs})
    found = catalog_partitions(context)
    if isinstance(found, SensorResult):
        for request in found.dynamic_partitions_requests or []:
            if isinstance(request, DeleteDynamicPartitionsRequest):
                for key in request.partition_keys:
                    instance.delete_dynamic_partition("catalogs", key)
            else:
                instance.add_dynamic_partitions("catalogs", list(request.partition_keys))
    assert isinstance(found, SensorResult | SkipReason)
    return found


def launch(catalogs: object, instance: DagsterInstance, name: str) -> ExecuteInProcessResult:
    job = build_definitions(catalog=catalogs).resolve_job_def("run_catalog")
    return job.execute_in_process(instance=instance, partition_key=name, raise_on_error=False)


def test_each_catalogue_is_a_partition_until_it_is_removed(
    stored: Catalogs, instance: DagsterInstance
) -> None:
    look(stored, instance)
    assert sorted(instance.get_dynamic_partitions("catalogs")) == ["albums", "songs"]
    catalogs.delete_with_tracks(stored.control, "albums")
    look(stored, instance)
    assert instance.get_dynamic_partitions("catalogs") == ["songs"]


def test_a_launched_partition_requests_a_run_of_its_catalogue_alone(
    stored: Catalogs, instance: DagsterInstance
) -> None:
    look(stored, instance)
    launched = launch(stored, instance, "songs")
    (shown,) = launched.asset_materializations_for_node("raw__catalog_runs")
    assert shown.metadata["due_count"].value == 1
    assert is_run_requested(stored.control, "songs")
    assert not is_run_requested(stored.control, "albums")


def test_a_back_fill_launches_every_missing_partition(
    stored: Catalogs, instance: DagsterInstance
) -> None:
    look(stored, instance)
    for name in instance.get_dynamic_partitions("catalogs"):
        assert launch(stored, instance, name).success
    assert all(is_run_requested(stored.control, name) for name in stored.names())


def test_a_catalogue_removed_meanwhile_fails_its_run(
    stored: Catalogs, instance: DagsterInstance
) -> None:
    look(stored, instance)
    catalogs.delete_with_tracks(stored.control, "songs")
    assert not launch(stored, instance, "songs").success


def test_without_a_profile_the_sensor_says_so(instance: DagsterInstance) -> None:
    found = look(NoProfile(), instance)
    assert isinstance(found, SkipReason)


def test_the_names_of_catalogues_are_known_without_their_tracks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROFILE", "sandbox")
    monkeypatch.setenv("DATA_HOME", str(tmp_path))
    url = open_home(tmp_path, "sandbox").control_url
    with closing(open_control(url, world="sandbox")) as control:
        catalogs.change(control, "songs", {})
        catalogs.import_tracks(control, "songs", [ImportedTrack(key="music:10000", input="10000")])
    monkeypatch.delattr(catalogs, "read_tracks")
    assert CatalogResource().names() == ["songs"]
