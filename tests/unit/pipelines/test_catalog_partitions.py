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
from warehouse.control import ControlStore, open_control
from warehouse.control.catalogs import CatalogRows
from warehouse.home.folder import open_home
from warehouse.records.catalog.tracks import ImportedTrack
from warehouse.records.errors import ProfileNotChosenError
from warehouse.records.videos import ServiceSongList


@dataclass
class Catalogs:
    """Catalogues of a store that is open already."""

    control: ControlStore

    def names(self) -> list[str]:
        return [catalog.name for catalog in self.control.catalogs()]

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
def catalogs(tmp_path: Path) -> Iterator[Catalogs]:
    with closing(open_control(f"sqlite:///{tmp_path / 'control.sqlite'}", world="test")) as control:
        for name in ("albums", "songs"):
            control.change_catalog(name, {})
            control.import_tracks(name, [ImportedTrack(key="music:10000", input="10000")])
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
    catalogs: Catalogs, instance: DagsterInstance
) -> None:
    look(catalogs, instance)
    assert sorted(instance.get_dynamic_partitions("catalogs")) == ["albums", "songs"]
    catalogs.control.delete_catalog("albums")
    look(catalogs, instance)
    assert instance.get_dynamic_partitions("catalogs") == ["songs"]


def test_a_launched_partition_requests_a_run_of_its_catalogue_alone(
    catalogs: Catalogs, instance: DagsterInstance
) -> None:
    look(catalogs, instance)
    launched = launch(catalogs, instance, "songs")
    (shown,) = launched.asset_materializations_for_node("raw__catalog_runs")
    assert shown.metadata["due_count"].value == 1
    assert is_run_requested(catalogs.control, "songs")
    assert not is_run_requested(catalogs.control, "albums")


def test_a_back_fill_launches_every_missing_partition(
    catalogs: Catalogs, instance: DagsterInstance
) -> None:
    look(catalogs, instance)
    for name in instance.get_dynamic_partitions("catalogs"):
        assert launch(catalogs, instance, name).success
    assert all(is_run_requested(catalogs.control, name) for name in catalogs.names())


def test_a_catalogue_removed_meanwhile_fails_its_run(
    catalogs: Catalogs, instance: DagsterInstance
) -> None:
    look(catalogs, instance)
    catalogs.control.delete_catalog("songs")
    assert not launch(catalogs, instance, "songs").success


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
        control.change_catalog("songs", {})
        control.import_tracks("songs", [ImportedTrack(key="music:10000", input="10000")])
    monkeypatch.delattr(CatalogRows, "catalog_tracks")
    assert CatalogResource().names() == ["songs"]
