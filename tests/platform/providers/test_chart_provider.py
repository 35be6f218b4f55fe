"""The chart's source: its own retry, its other forms, and no song of another issue."""

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from pipelines.platform.http.host_policy import DEFAULT_PAUSE_S
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers import build_chart_provider
from pipelines.platform.providers.chart_public import ChartPublic
from pipelines.platform.providers.provider import ProviderDependencies
from pipelines.settings import Settings
from warehouse.records.errors import (
    ChartUnavailableError,
    RateLimitedError,
    StructureChangedError,
    SubstitutionError,
    UnreachableError,
    UpstreamError,
)

VOLID = "103108"
LATEST = "103150"
DENIED = "chart_songs/denied.html"
COLD = "chart_songs/cold_edge.json"
ISSUES = "chart_issues/issues.json"


@pytest.fixture
def play(scripted: Any, shape_named: Any) -> Callable[..., tuple[ChartPublic, Any]]:
    """A chart whose client answers with these shapes, one after another."""

    def start(*script: Any) -> tuple[ChartPublic, Any]:
        answers = [
            shape_named(step).answer("any") if isinstance(step, str) else step for step in script
        ]
        client = scripted(answers)
        return ChartPublic(client), client

    return start


def _surfaces(client: Any) -> list[str]:
    return [ask.surface for ask in client.asked]


async def test_issues_and_songs_are_read(play: Any) -> None:
    chart, client = play(ISSUES, "chart_songs/songs.json")
    issues = await chart.fetch_issues()
    songs = await chart.fetch_songs(VOLID, 1)
    assert (issues.entity_id, songs.entity_id) == ("8888", VOLID)
    assert (issues.value.latest_volid, len(issues.value.issues)) == (LATEST, 5)
    assert [song.rank for song in songs.value.songs] == [1, 2, 3]
    assert songs.value.chart_date == date(2025, 12, 22)
    assert client.asked[1].params["volid"] == VOLID


async def test_chart_that_is_asked_too_often_is_left_alone(play: Any) -> None:
    chart, client = play("chart_songs/too_frequent.json")
    with pytest.raises(RateLimitedError) as caught:
        await chart.fetch_songs(VOLID, 1)
    assert (caught.value.reason, caught.value.retry_after) == ("errcode 1002", DEFAULT_PAUSE_S)
    assert _surfaces(client) == ["chart_songs"]
    assert client.pauses.paused == [client.profile.hosts.chart]


async def test_latest_issue_is_asked_without_an_id(play: Any) -> None:
    chart, client = play("chart_songs/songs.json")
    reading = await chart.fetch_songs(None, 1)
    assert (reading.entity_id, reading.value.volid) == ("latest", VOLID)
    assert "volid" not in client.asked[0].params


@pytest.mark.parametrize("first", [COLD, DENIED, "chart_songs/only_timestamp.json"])
async def test_chart_that_says_no_is_asked_once_more(first: str, play: Any) -> None:
    chart, _ = play(first, "chart_songs/songs.json")
    reading = await chart.fetch_songs(VOLID, 1)
    assert (reading.surface, reading.request_count) == ("chart_songs", 2)


async def test_issues_that_stay_away_are_named(play: Any) -> None:
    cold = "chart_issues/cold_edge.json"
    chart, client = play(cold, cold)
    with pytest.raises(ChartUnavailableError) as caught:
        await chart.fetch_issues()
    assert (caught.value.reason, len(client.asked)) == ("empty_info", 2)


async def test_latest_issue_falls_back_to_the_mobile_form(play: Any) -> None:
    chart, client = play(DENIED, DENIED, "chart_latest/latest.json")
    reading = await chart.fetch_songs(None, 1)
    assert (reading.surface, reading.request_count) == ("chart_latest", 3)
    assert client.asked[2].url.startswith("http://m.chartsrc.localhost:")


async def test_latest_issue_falls_back_to_the_page_at_last(play: Any) -> None:
    chart, client = play(DENIED, DENIED, "chart_latest/empty_list.json", "chart_html/latest.html")
    reading = await chart.fetch_songs(None, 1)
    assert (reading.surface, reading.request_count) == ("chart_html", 4)
    assert client.asked[3].url.endswith("/yy/rank/home/1-8888.html")


async def test_old_issue_falls_back_to_its_own_page(play: Any) -> None:
    chart, client = play(ISSUES, DENIED, DENIED, "chart_html_old/old_issue.html")
    await chart.fetch_issues()
    reading = await chart.fetch_songs(VOLID, 1)
    assert _surfaces(client)[1:] == ["chart_songs", "chart_songs", "chart_html_old"]
    assert reading.value.songs[0].title == "晚风 - ]; 第1首"
    assert client.asked[3].url.endswith(f"/1-8888-{VOLID}.html")


async def test_forms_of_the_latest_issue_must_prove_that_it_is_the_one_asked_for(
    play: Any,
) -> None:
    chart, _ = play(ISSUES, DENIED, DENIED, "chart_latest/latest.json", "chart_html/latest.html")
    await chart.fetch_issues()
    with pytest.raises(ChartUnavailableError) as caught:
        await chart.fetch_songs(LATEST, 1)
    assert caught.value.reason == "access_denied"


async def test_songs_of_another_issue_are_rejected_and_read_elsewhere(play: Any) -> None:
    chart, client = play("chart_songs/another_issue.json", "chart_html_old/old_issue.html")
    assert (await chart.fetch_songs(VOLID, 1)).surface == "chart_html_old"
    assert _surfaces(client) == ["chart_songs", "chart_html_old"]


@pytest.mark.parametrize(
    "other", ["chart_songs/another_issue.json", "chart_songs/another_day.json"]
)
async def test_songs_of_another_issue_never_pass(other: str, play: Any) -> None:
    chart, _ = play(ISSUES, other, "chart_html_old/another_day.html")
    await chart.fetch_issues()
    with pytest.raises(SubstitutionError):
        await chart.fetch_songs(VOLID, 1)


@pytest.mark.parametrize(
    ("step", "error"),
    [
        ("chart_issues/forbidden.html", UnreachableError),  # a closed source is named last
        ("chart_songs/no_list.json", StructureChangedError),
        (UnreachableError("down", surface="chart_songs"), UnreachableError),
    ],
)
async def test_refused_songs_are_asked_of_the_other_form_and_named_if_that_refuses_too(
    step: Any, error: type[UpstreamError], play: Any
) -> None:
    down = UnreachableError("down", surface="chart_html_old", status=500)
    chart, client = play(step, down)
    with pytest.raises(error):
        await chart.fetch_songs(VOLID, 1)
    assert [ask.surface for ask in client.asked] == ["chart_songs", "chart_html_old"]


async def test_chart_provider_names_the_usual_surface_if_every_form_fails(play: Any) -> None:
    chart, client = play(COLD, COLD, UnreachableError("down", surface="chart_html_old"))
    with pytest.raises(ChartUnavailableError) as caught:
        await chart.fetch_songs(VOLID, 1)
    assert (caught.value.surface, caught.value.reason) == ("chart_songs", "empty_info")
    assert len(client.asked) == 3


NO_BOOK: Any = object()
"""Nothing is asked of the hosts' book while a source is built."""


async def test_chart_is_built_at_its_own_rate(profile: PlatformProfile) -> None:
    chart = build_chart_provider(
        ProviderDependencies(settings=Settings(_env_file=None), profile=profile, control=NO_BOOK)
    )
    assert isinstance(chart, ChartPublic)
    assert chart._client.profile.rate == profile.chart_rate
    await chart.aclose()
