"""Catalogues in the control store: what was imported stays, and no process undoes another's row."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.fake_clock import START, FakeClock
from tests.postgres import on_both
from warehouse.control import ControlStore, catalogs, open_control
from warehouse.records.catalogs import CatalogSettings, CatalogTrack, ImportedTrack

pytestmark = pytest.mark.full

GIVEN = {"fresh_days": 3.5, "tracks_per_day": 40, "parameters": {"candidate_limit": 15}}
FIRST = ImportedTrack(
    key="music:12345",
    input="12345",
    label="纸船",
    priority=3,
    columns={"ISRC": "DE-A00", "年": "1"},
)
SECOND = ImportedTrack(key="video:54321", input="https://v.example/54321")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def control(control_url: str, clock: FakeClock) -> Iterator[ControlStore]:
    with closing(open_control(control_url, world="sandbox", clock=clock.unix)) as store:
        yield store


def rows(control: ControlStore) -> dict[str, CatalogTrack]:
    return {track.given.key: track for track in catalogs.read_tracks(control, "songs")}


def test_a_catalogue_is_kept_as_it_was_given(control: ControlStore, clock: FakeClock) -> None:
    catalogs.change(control, "songs", GIVEN)
    clock.advance(60)
    catalogs.change(control, "songs", {"tracks_per_day": None})
    (found,) = catalogs.read_all(control)
    assert found == catalogs.get(control, "songs")
    assert found.settings == CatalogSettings(fresh_days=3.5, parameters={"candidate_limit": 15})
    assert (found.created_at, found.updated_at) == (START, clock.now())
    assert catalogs.get(control, "other") is None


@on_both
def test_changes_made_at_the_same_time_are_both_kept(control: ControlStore) -> None:
    def set_again_and_again(field: str) -> list[int | None]:
        found: list[int | None] = []
        for value in range(1, 21):
            catalogs.change(control, "songs", {field: value})
            stored = catalogs.get(control, "songs")
            found.append(None if stored is None else getattr(stored.settings, field))
        return found

    with ThreadPoolExecutor() as threads:
        fields = ("tracks_per_day", "requests_per_day")
        found = list(threads.map(set_again_and_again, fields))
    assert found == [list(range(1, 21))] * 2


@on_both
def test_an_import_adds_behind_and_updates_in_place(control: ControlStore) -> None:
    catalogs.import_tracks(control, "songs", [FIRST, SECOND])
    done = replace(rows(control)[FIRST.key], result_job_id="a", result_at=START)
    assert catalogs.update_track(control, "songs", done, job_before=None)
    changed = replace(FIRST, priority=9, columns={"ISRC": "DE-A01"})
    third = ImportedTrack(key="music:33333", input="33333")
    catalogs.import_tracks(control, "songs", [third, changed])
    assert [track.given for track in catalogs.read_tracks(control, "songs")] == [
        changed,
        SECOND,
        third,
    ]
    assert rows(control)[FIRST.key] == replace(done, given=changed)
    catalogs.import_tracks(control, "songs", [])


@on_both
def test_imports_at_the_same_time_both_state_what_they_know(control: ControlStore) -> None:
    catalogs.change(control, "songs", {})
    catalogs.import_tracks(control, "songs", [FIRST])

    def state_again_and_again(column: str) -> None:
        for value in range(20):
            stated = replace(FIRST, columns={f"{column} {value}": "x"})
            catalogs.import_tracks(control, "songs", [stated], merge=with_columns_of_both)

    with ThreadPoolExecutor() as threads:
        list(threads.map(state_again_and_again, ("a", "b")))
    stated = {f"{column} {value}": "x" for column in "ab" for value in range(20)}
    assert rows(control)[FIRST.key].given.columns == {**FIRST.columns, **stated}


def with_columns_of_both(before: ImportedTrack, new: ImportedTrack) -> ImportedTrack:
    return replace(new, columns={**before.columns, **new.columns})


@on_both
def test_a_row_is_stored_whole(control: ControlStore) -> None:
    catalogs.import_tracks(control, "songs", [FIRST])
    track = CatalogTrack(
        given=FIRST, position=0, submission_count=2, job_id="b", charged_day=20_000,
        charged_requests=7, charged_scans=3, music_id="12345", result_job_id="a", result_at=START,
        previous_job_id="0", failed_at=datetime(2026, 3, 2, tzinfo=UTC), error={"type": "x"},
    )  # fmt: skip
    assert catalogs.update_track(control, "songs", track, job_before=None)
    assert catalogs.read_tracks(control, "songs") == [track]


def test_a_row_that_has_another_job_by_now_is_left_alone(control: ControlStore) -> None:
    catalogs.import_tracks(control, "songs", [FIRST])
    track = rows(control)[FIRST.key]
    assert catalogs.update_track(control, "songs", replace(track, job_id="a"), job_before=None)
    late = replace(track, failed_at=START)
    assert not catalogs.update_track(control, "songs", late, job_before=None)
    assert not catalogs.update_track(control, "songs", late, job_before="b")
    assert rows(control)[FIRST.key].job_id == "a"


def test_ten_thousand_tracks_are_kept_and_removed(control: ControlStore) -> None:
    tracks = [ImportedTrack(key=f"music:{n}", input=str(n)) for n in range(10_000)]
    catalogs.import_tracks(control, "songs", tracks)
    assert [track.given for track in catalogs.read_tracks(control, "songs")] == tracks
    assert catalogs.remove_tracks(control, "songs", [track.key for track in tracks[1:]]) == 9_999
    assert [track.given for track in catalogs.read_tracks(control, "songs")] == tracks[:1]


def test_a_catalogue_is_deleted_with_its_tracks_alone(control: ControlStore) -> None:
    for name in ("songs", "others"):
        catalogs.change(control, name, {})
        catalogs.import_tracks(control, name, [FIRST])
    assert catalogs.delete_with_tracks(control, "songs")
    assert not catalogs.delete_with_tracks(control, "songs")
    assert catalogs.read_tracks(control, "songs") == []
    assert len(catalogs.read_tracks(control, "others")) == 1
