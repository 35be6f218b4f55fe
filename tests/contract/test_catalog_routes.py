"""Catalogues over HTTP: imported, read page by page, run, stopped and removed."""

import asyncio
import csv
import io
from collections.abc import Iterator
from typing import Any

import pytest
from anyio import to_thread
from starlette.testclient import TestClient

from api.responses.documents import Envelope, ErrorData
from api.schemas.extensions.catalogs import (
    CatalogCancelled,
    CatalogDocument,
    CatalogImport,
    CatalogList,
    CatalogRemoved,
    CatalogTracks,
)
from pipelines.captures.session import Captures
from tests.charts.chart_rows import add_result, add_track, add_work
from tests.contract.conftest import Service
from tests.fake_clock import PATIENCE_S
from tests.scripted_reads import ReadService
from warehouse.control import catalogs
from warehouse.records.errors import EmptyAnswerError
from warehouse.records.videos import ServiceSongList

PATH = "/api/v1/sametrack/catalogs"
IDS = [f"730000000000000000{n}" for n in range(1, 8)]


@pytest.fixture
def client(reads: ReadService, shared_service: Service) -> Iterator[TestClient]:
    shared_service.reads = reads
    yield shared_service.client()
    for kept in catalogs.read_all(reads.control):
        catalogs.delete_with_tracks(reads.control, kept.name)


def data(answer: Any, shape: Any) -> Any:
    assert answer.status_code == 200, answer.text
    Envelope[shape].model_validate(answer.json())
    return answer.json()["data"]


def refusal(answer: Any, status: int) -> Any:
    assert answer.status_code == status, answer.text
    Envelope[ErrorData].model_validate(answer.json())
    return answer.json()["data"]["error"]


def add(client: TestClient, **body: Any) -> Any:
    return data(client.post(f"{PATH}/songs/tracks", json=body), CatalogImport)


def test_rows_of_a_table_are_imported_and_each_problem_names_its_line(client: TestClient) -> None:
    rows = [
        {"track": IDS[0], "title": "Paper Boats", "release": "R-17"},
        {"track": IDS[0]},
        {"track": "no track"},
    ]
    found = add(client, rows=rows, first_line=501, tracks_per_day=20)
    assert (found["new_count"], found["track_count"], found["is_dry_run"]) == (1, 1, False)
    assert [(one["line"], one["first_line"]) for one in found["duplicates"]] == [(502, 501)]
    assert [(one["line"], one["reason"]) for one in found["problems"]] == [(503, "not_a_track")]
    (track,) = data(client.get(f"{PATH}/songs/tracks"), CatalogTracks)["tracks"]
    assert (track["state"], track["label"]) == ("never_read", "Paper Boats")
    assert track["columns"]["release"] == "R-17"
    settings = data(client.get(f"{PATH}/songs"), CatalogDocument)["settings"]
    assert settings["tracks_per_day"] == 20


def test_a_page_of_tracks_that_did_not_change_is_not_sent_again_and_says_so(
    client: TestClient,
) -> None:
    add(client, inputs=IDS[:2])
    tag = client.get(f"{PATH}/songs/tracks").headers["etag"]
    again = client.get(f"{PATH}/songs/tracks", headers={"if-none-match": tag})
    assert (again.status_code, again.content) == (304, b"")
    described = client.get("/openapi.json").json()["paths"][f"{PATH}/{{name}}/tracks"]["get"]
    assert {"200", "304"} <= set(described["responses"])
    assert "ETag" in described["responses"]["200"]["headers"]


def test_an_import_changes_the_settings_that_it_names_and_no_others(client: TestClient) -> None:
    add(client, inputs=IDS[:1], fresh_days=3, candidate_limit=60, requests_per_day=500)
    before = data(client.get(f"{PATH}/songs"), CatalogDocument)["settings"]
    assert (before["fresh_days"], before["parameters"]) == (3.0, {"candidate_limit": 60})
    add(client, inputs=IDS[1:2], requests_per_day=0)
    after = data(client.get(f"{PATH}/songs"), CatalogDocument)["settings"]
    assert (before["requests_per_day"], after["requests_per_day"]) == (500, None)
    assert {**after, "requests_per_day": 500} == before


def test_lists_that_are_not_reached_in_time_are_problems_that_say_what_to_do(
    client: TestClient, reads: ReadService, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    async def never(_captures: Captures, _surface: str, list_id: str) -> ServiceSongList:
        asked.append(list_id)
        await asyncio.wait_for(asyncio.Event().wait(), PATIENCE_S)
        raise AssertionError

    monkeypatch.setattr(Captures, "song_list", never)
    settings = reads.sources.settings
    short = settings.model_copy(update={"sync_request_timeout": 0.2})
    monkeypatch.setattr(reads.sources, "settings", short)
    song = reads.sources.profile.song_link("7300000000000000001")
    playlist = song.replace("track?track_id", "playlist?playlist_id")
    found = add(client, inputs=[*[playlist] * 3, IDS[0]])
    assert len(asked) == 1
    assert [(one["line"], one["reason"]) for one in found["problems"]] == [
        (1, "unreadable"), (2, "unreadable"), (3, "unreadable"),
    ]  # fmt: skip
    assert all("import this line again" in one["message"] for one in found["problems"])
    assert found["new_count"] == 1


def test_an_import_that_waits_for_a_list_keeps_what_another_one_sets_meanwhile(
    client: TestClient, reads: ReadService, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(client, inputs=IDS[:1])

    async def read_while_another_imports(*_: object) -> ServiceSongList:
        body = {"rows": [{"track": IDS[0], "title": "Paper Boats"}], "tracks_per_day": 5}
        await to_thread.run_sync(lambda: add(client, **body))
        raise EmptyAnswerError("nothing came", surface="song")

    monkeypatch.setattr(Captures, "song_list", read_while_another_imports)
    song = reads.sources.profile.song_link("7300000000000000001")
    playlist = song.replace("track?track_id", "playlist?playlist_id")
    add(client, inputs=[playlist, IDS[0]], requests_per_day=50)
    settings = data(client.get(f"{PATH}/songs"), CatalogDocument)["settings"]
    assert (settings["tracks_per_day"], settings["requests_per_day"]) == (5, 50)
    (track,) = data(client.get(f"{PATH}/songs/tracks"), CatalogTracks)["tracks"]
    assert track["label"] == "Paper Boats"


def test_a_dry_run_stores_nothing(client: TestClient) -> None:
    assert add(client, inputs=IDS[:2], dry_run=True)["new_count"] == 2
    assert data(client.get(PATH), CatalogList)["catalogs"] == []


def test_tracks_are_read_page_by_page_and_by_state(client: TestClient) -> None:
    add(client, inputs=IDS)
    read, cursor = [], 0
    while cursor is not None:
        page = data(
            client.get(f"{PATH}/songs/tracks", params={"cursor": cursor, "limit": 3}), CatalogTracks
        )
        assert page["total_count"] == 7
        read += [track["input"] for track in page["tracks"]]
        cursor = page["next_cursor"]
    assert read == IDS
    fresh = data(client.get(f"{PATH}/songs/tracks", params={"state": "fresh"}), CatalogTracks)
    assert (fresh["tracks"], fresh["total_count"], fresh["next_cursor"]) == ([], 0, None)


def scan(reads: ReadService, music_id: str, title: str, likes: int) -> None:
    """What a scan of a track that no catalogue asked for leaves."""
    add_track(reads.engine, music_id, title=title)
    add_work(reads.engine, f"v{music_id}", published=0, likes=[(1, likes)], music_id=music_id)
    add_result(reads.engine, music_id, f"job {music_id}")


def test_a_track_shows_what_scans_outside_the_catalogue_have_found(
    client: TestClient, reads: ReadService
) -> None:
    scanned, unread = "7400000000000000001", "7400000000000000002"
    scan(reads, scanned, "Paper Boats", likes=40)
    add(client, inputs=[scanned, unread])
    tracks = data(client.get(f"{PATH}/songs/tracks"), CatalogTracks)["tracks"]
    assert [(track["state"], track["title"]) for track in tracks] == [
        ("never_read", "Paper Boats"), ("never_read", None),
    ]  # fmt: skip
    figures = tracks[0]["figures"]
    assert (figures["confirmed_video_count"], figures["digg_count"]) == (1, 40)
    assert (figures["newest_job_id"], figures["music_id_estimate"]) == (f"job {scanned}", None)
    assert tracks[1]["figures"] is None, "unknown, not 0"


@pytest.mark.parametrize(
    ("query", "order"),
    [
        ({}, "bca?"),
        ({"descending": "true"}, "?acb"),
        ({"sort": "title"}, "?abc"),
        ({"sort": "title", "descending": "true"}, "cba?"),
        ({"sort": "digg_count"}, "cab?"),
        ({"sort": "digg_count", "descending": "true"}, "bac?"),
        ({"sort": "digg_count", "descending": "true", "cursor": "1", "limit": "2"}, "ac"),
        ({"sort": "confirmed_video_count"}, "bca?"),
        ({"sort": "music_id_estimate", "descending": "true"}, "bca?"),
        ({"sort": "state"}, "bca?"),
    ],
)
def test_tracks_are_sorted_by_every_column_and_unknown_values_come_last(
    client: TestClient, reads: ReadService, query: dict[str, str], order: str
) -> None:
    letters = {f"750000000000000000{at}": letter for at, letter in enumerate("bca?", 1)}
    for (music_id, letter), likes in zip(letters.items(), (90, 5, 40), strict=False):
        scan(reads, music_id, f"{letter} song", likes=likes)
    add(client, inputs=list(letters))
    page = data(client.get(f"{PATH}/songs/tracks", params=query), CatalogTracks)
    assert "".join(letters[track["input"]] for track in page["tracks"]) == order
    assert page["total_count"] == 4


def test_the_tracks_of_a_catalogue_are_exported_in_their_order(
    client: TestClient, reads: ReadService
) -> None:
    scan(reads, "7600000000000000001", "Kites", likes=7)
    add(client, inputs=["7600000000000000002", "7600000000000000001"])
    source = f"{PATH}/songs/tracks?sort=digg_count&limit=10000"
    query = {"source": source, "table": "catalog", "form": "csv"}
    answer = client.get("/api/v1/sametrack/export", params=query)
    assert answer.status_code == 200, answer.text
    rows = list(csv.DictReader(io.StringIO(answer.text, newline="")))
    assert [(row["title"], row["input"], row["digg_count"]) for row in rows] == [
        ("Kites", "7600000000000000001", "7"), ("", "7600000000000000002", ""),
    ]  # fmt: skip


def test_a_run_is_requested_shown_and_stopped(client: TestClient) -> None:
    add(client, inputs=IDS[:2])
    begun = data(client.post(f"{PATH}/songs/runs"), CatalogDocument)
    assert (begun["is_running"], begun["due_count"]) == (True, 2)
    (listed,) = data(client.get(PATH), CatalogList)["catalogs"]
    assert listed["is_running"] is True
    stopped = data(client.delete(f"{PATH}/songs/runs"), CatalogCancelled)
    assert stopped["cancelled_count"] == 0, "no worker has begun it"
    assert data(client.get(f"{PATH}/songs"), CatalogDocument)["is_running"] is False


def test_a_catalogue_is_removed_and_unknown_afterwards(client: TestClient) -> None:
    add(client, inputs=IDS)
    assert data(client.delete(f"{PATH}/songs"), CatalogRemoved)["removed_count"] == 7
    for answer in (
        client.get(f"{PATH}/songs"), client.delete(f"{PATH}/songs"),
        client.get(f"{PATH}/songs/tracks"), client.post(f"{PATH}/songs/runs"),
        client.delete(f"{PATH}/songs/runs"),
    ):  # fmt: skip
        assert refusal(answer, 404)["type"] == "not_found"


def test_a_catalogue_of_the_name_of_a_removed_one_is_not_running(client: TestClient) -> None:
    add(client, inputs=IDS[:1])
    client.post(f"{PATH}/songs/runs")
    client.delete(f"{PATH}/songs")
    add(client, inputs=IDS[1:2])
    assert data(client.get(f"{PATH}/songs"), CatalogDocument)["is_running"] is False


@pytest.mark.parametrize(
    "body",
    [
        {}, {"inputs": [IDS[0]], "rows": [{"track": IDS[1]}]}, {"inputs": []},
        {"inputs": [IDS[0]], "candidate_limit": 3}, {"inputs": [IDS[0]], "nothing": 1},
        {"rows": [{"track": 7}]}, {"inputs": [IDS[0]] * 501},
    ],
)  # fmt: skip
def test_a_body_that_says_nothing_or_too_much_is_refused(
    body: dict[str, Any], client: TestClient
) -> None:
    found = refusal(client.post(f"{PATH}/songs/tracks", json=body), 400)
    assert found["type"] in {"invalid_inputs", "invalid_parameter", "unknown_parameter"}


@pytest.mark.parametrize("query", [{"state": "lost"}, {"cursor": -1}, {"limit": 0}, {"page": 2}])
def test_a_wrong_page_is_refused(query: dict[str, Any], client: TestClient) -> None:
    add(client, inputs=IDS[:1])
    assert refusal(client.get(f"{PATH}/songs/tracks", params=query), 400)["hint"]


def test_a_name_that_is_no_file_name_is_refused(client: TestClient) -> None:
    found = refusal(client.post(f"{PATH}/No%20name/tracks", json={"inputs": [IDS[0]]}), 400)
    assert found["type"] == "invalid_parameter"
