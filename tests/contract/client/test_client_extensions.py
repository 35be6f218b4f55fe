"""The typed client at the service's own operations, in process; both ways of waiting."""

import inspect
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from typing import Any

import httpx2
import pytest

from api.client import (
    AsyncClient,
    BadRequestError,
    Client,
    Connection,
    ConnectionFailedError,
    MissingError,
    UnavailableError,
    WatchEntryGiven,
)
from api.client.operation import Operation
from api.client.operations import OWN, Operations
from api.generate.files import read_description
from api.openapi.reference import INTERFACE, build_reference
from pipelines.charts.service import update_song_links
from tests.charts.chart_rows import OTHER_KEY, SONG_KEY, TRACK, add_usual
from tests.contract.conftest import HERE, answering, client_of, good
from tests.scripted_reads import ReadService, open_reads
from tests.stored_results import MUSIC_ID

AS_FILES = {
    # what is no envelope comes by a plain GET: pictures, sounds, tables, the words of supervisors
    "sametrack_comparison_svg", "sametrack_comparison_png", "sametrack_comparison_excerpt",
    "sametrack_video_excerpt", "sametrack_picture", "sametrack_job_report",
    "sametrack_track_report",
    "sametrack_export", "sametrack_sql_export", "healthz", "readyz",
}  # fmt: skip
LISTENED_TO = {"sametrack_job_events"}  # by `watch` and `wait`


@pytest.fixture(scope="module")
def charted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReadService]:
    with open_reads(tmp_path_factory.mktemp("charted")) as read_service:
        add_usual(read_service.engine)
        update_song_links(read_service.engine)
        yield read_service


@pytest.fixture
def caller(charted: ReadService) -> Iterator[Client]:
    with client_of(charted.client()) as found:
        yield found


@pytest.fixture
async def awaiting(charted: ReadService) -> AsyncIterator[AsyncClient]:
    transport = httpx2.ASGITransport(charted.app(), raise_app_exceptions=False)
    async with AsyncClient(Connection(base_url=HERE), transport=transport) as found:
        yield found


def test_a_watchlist_is_made_changed_run_and_deleted(reads: ReadService) -> None:
    with client_of(reads.client()) as caller:
        _keep_a_watchlist(caller)


def _keep_a_watchlist(caller: Client) -> None:
    made = caller.create_watchlist(
        "songs",
        every="every 6 hours",
        entries=[{"kind": "track", "input": MUSIC_ID}],
        thresholds={"velocity": None, "rank_change": 5},
        parameters={"count": 10},
    ).data
    assert (made["cron"], made["parameters"]) == ("0 */6 * * *", {"count": 10})
    changed = caller.change_watchlist("songs", enabled=False, every="daily").data
    assert (changed["every"], changed["next_due_at"]) == ("daily", None)
    thresholds = changed["thresholds"]
    assert (thresholds["velocity"], thresholds["rank_change"]) == (None, 5)
    assert thresholds["new_music_id"] is True
    assert [one["name"] for one in caller.watchlists().data["watchlists"]] == ["songs"]
    run = caller.run_watchlist("songs").data
    assert (run["status"], run["origin"]) == ("due", "api")
    found = caller.watchlist_run("songs", run["run_id"]).data
    assert [entry["input"] for entry in found["entries"]] == [MUSIC_ID]
    assert len(caller.watchlist_runs("songs", limit=5).data["runs"]) == 1
    assert caller.watchlist_digests("songs").data["digests"] == []
    assert caller.delete_watchlist("songs").data["deleted"]
    with pytest.raises(MissingError):
        caller.watchlist("songs")


async def test_watchlists_are_awaited_too(reads: ReadService) -> None:
    transport = httpx2.ASGITransport(reads.app(), raise_app_exceptions=False)
    async with AsyncClient(Connection(base_url=HERE), transport=transport) as awaiting:
        await _await_a_watchlist(awaiting)


async def _await_a_watchlist(awaiting: AsyncClient) -> None:
    entries: list[WatchEntryGiven] = [{"kind": "track", "input": MUSIC_ID}]
    made = await awaiting.create_watchlist("songs", every="daily", entries=entries)
    assert (await awaiting.watchlist("songs")).data["cron"] == made.data["cron"]
    with pytest.raises(BadRequestError, match="not understood"):
        await awaiting.change_watchlist("songs", every="now and then")
    run_id = (await awaiting.run_watchlist("songs")).data["run_id"]
    assert (await awaiting.watchlist_run("songs", run_id)).data["status"] == "due"
    assert (await awaiting.watchlist_runs("songs")).data["returned_count"] == 1
    assert (await awaiting.watchlist_digests("songs", limit=1)).data["digests"] == []
    assert (await awaiting.watchlists()).data["returned_count"] == 1
    assert (await awaiting.delete_watchlist("songs")).data["name"] == "songs"


def test_a_song_is_told_linked_and_left_to_the_rules_again(caller: Client) -> None:
    song = caller.chart_song(SONG_KEY).data
    assert [(link["music_id"], link["reason"]) for link in song["links"]] == [
        (TRACK, "title_and_artist")
    ]
    assert (song["lead"]["lead_days"], song["chart"]["best_rank"]) == (8.0, 1)
    denied = caller.link_chart_song(SONG_KEY, TRACK, said="different", said_by="Lin").data
    assert denied["links"][0]["reason"] == "manual_different"
    back = caller.link_chart_song(SONG_KEY, TRACK, said="withdrawn", note="a slip").data
    assert [link["reason"] for link in back["links"]] == ["title_and_artist"]
    said = caller.chart_links(song_key=SONG_KEY).data["links"]
    assert [(one["said"], one["said_by"], one["note"]) for one in said] == [
        ("different", "Lin", None),
        ("withdrawn", None, "a slip"),
    ]
    judged = caller.judge_chart().data
    assert (judged["row_count"], judged["relations"]) == (0, {"same": 1})
    with pytest.raises(MissingError):
        caller.chart_song("hash:00")


async def test_songs_of_the_chart_are_awaited_too(awaiting: AsyncClient) -> None:
    linked = (await awaiting.link_chart_song(OTHER_KEY, TRACK, said="same")).data
    assert (linked["links"][0]["confidence"], linked["platform"]["music_ids"]) == (
        "manual",
        [TRACK],
    )
    assert (await awaiting.chart_song(OTHER_KEY)).data["lead"] == linked["lead"]
    assert (await awaiting.chart_links()).data["returned_count"] >= 1
    with pytest.raises(BadRequestError, match="music_id"):
        await awaiting.link_chart_song(OTHER_KEY, "twelve", said="same")
    await awaiting.link_chart_song(OTHER_KEY, TRACK, said="withdrawn")


def test_client_does_not_retry_a_link_decision() -> None:
    lost = httpx2.ReadTimeout("lost", request=httpx2.Request("POST", HERE))
    client, asked, _ = answering(lost, good({}))
    with closing(client), pytest.raises(ConnectionFailedError):
        client.link_chart_song(SONG_KEY, TRACK, said="same")
    assert asked == ["POST /api/v1/sametrack/chart/links"]


def test_evidence_counts_and_the_service_itself_are_told(
    service: Any, charted: ReadService
) -> None:
    job = service.stored()
    service.reads = charted
    with client_of(service.client()) as caller:
        assert caller.job_comparisons(job.job_id).data["comparisons"] == []
        assert caller.job_reads(job.job_id).data["reads"] == []
        assert caller.job_preview(job.job_id).data["aweme_list"] == []
        result = caller.job_ranking(job.job_id, sort_by="oldest", count=3).data["result"]
        assert result is not None
        assert len(result["aweme_list"]) == 3
        assert caller.series("track", TRACK).data["kind"] == "track"
        assert caller.storage().data["budget"]["limit"] > 0
        assert len(caller.reference().data["operations"]) > len(INTERFACE)
        with pytest.raises(UnavailableError, match="profile_not_chosen"):
            caller.doctor()
        for ask in (caller.comparison, caller.annotations):
            with pytest.raises(MissingError):
                ask("3f1c9a52-6d0e-4b7a-9c54-0a7d3f2b8e61")
        with pytest.raises(MissingError):
            caller.annotate("3f1c9a52-6d0e-4b7a-9c54-0a7d3f2b8e61", "same", note="louder")


def test_named_queries_tables_and_statements_are_asked_for(charted: ReadService) -> None:
    with client_of(charted.client()) as caller:
        names = [query["name"] for query in caller.queries().data["queries"]]
        assert "top-videos" in names
        tables = {table["name"]: table for table in caller.tables().data["tables"]}
        assert tables["marts.rankings"]["key"] == ["job_id", "rank"]
        answer = caller.sql("select $n::int + 1 as n", parameters={"n": 41}, row_limit=5).data
        assert (answer["rows"], answer["columns"]) == ([[42]], [{"name": "n", "kind": "whole"}])
        assert caller.sql(query="top-videos", parameters={"top": 3}).data["query"] == "top-videos"
        with pytest.raises(BadRequestError, match="one read-only statement"):
            caller.sql("drop table marts.rankings")


async def test_statements_are_awaited_too(awaiting: AsyncClient) -> None:
    assert (await awaiting.queries()).data["returned_count"] > 10
    assert (await awaiting.tables()).data["returned_count"] > 30
    answer = (await awaiting.sql("select i from range(9) t(i)", row_limit=2)).data
    assert (answer["rows"], answer["is_cut"]) == ([[0], [1]], True)


def test_no_operation_that_answers_with_data_lacks_a_method() -> None:
    """Each method is called; those of the interface have a test of their own."""
    called: set[tuple[str, str]] = set()

    def answer(request: httpx2.Request) -> httpx2.Response:
        called.add((request.method, request.url.path))
        return good({})

    with Client(transport=httpx2.MockTransport(answer)) as client:
        for name, one in vars(Operations).items():
            if isinstance(one, Operation) and one.path.startswith(OWN):
                needed = [
                    each.name
                    for each in inspect.signature(getattr(client, name)).parameters.values()
                    if each.default is each.empty and each.kind is not each.VAR_KEYWORD
                ]
                getattr(client, name)(**{each: f"{{{each}}}" for each in needed})
    own = [
        one for one in build_reference(read_description())["operations"] if one["number"] is None
    ]
    without = AS_FILES | LISTENED_TO
    assert {one["id"] for one in own} >= without
    assert called == {(one["method"], one["path"]) for one in own if one["id"] not in without}
