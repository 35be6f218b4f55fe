"""A song of the chart beside the platform over HTTP: what is told, what people may say, and what
every other request is answered.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from starlette.testclient import TestClient

from api.responses.documents import Envelope, ErrorData
from api.schemas.extensions.chart_platform import (
    ChartSongComparison,
    ChartTrackList,
    LinkDecisionList,
    SongLinkUpdate,
)
from pipelines.charts.service import update_song_links
from tests.charts.chart_rows import (
    OTHER_KEY,
    SONG_KEY,
    TRACK,
    add_result,
    add_track,
    add_usual,
)
from tests.scripted_reads import ReadService, open_reads

pytestmark = pytest.mark.full

SONGS, LINKS = "/api/v1/sametrack/chart/songs", "/api/v1/sametrack/chart/links"
JUDGE, TRACKS = "/api/v1/sametrack/chart/judge", "/api/v1/sametrack/chart/tracks"
COVER = "7300000000000000002"
BODY = {"song_key": OTHER_KEY, "music_id": TRACK, "said": "same"}
JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def reads(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReadService]:
    with open_reads(tmp_path_factory.mktemp("charted")) as reads:
        add_usual(reads.engine)
        update_song_links(reads.engine)
        yield reads


@pytest.fixture
def client(reads: ReadService) -> TestClient:
    return reads.client()


def data(answer: Any, shape: Any = ChartSongComparison) -> Any:
    assert answer.status_code == 200, answer.text
    Envelope[shape].model_validate(answer.json())
    return answer.json()["data"]


def relations(song: Any) -> dict[str, tuple[str, str]]:
    return {link["music_id"]: (link["relation"], link["reason"]) for link in song["links"]}


def test_a_song_is_told_with_its_places_links_curve_and_lead(client: TestClient) -> None:
    song = data(client.get(f"{SONGS}/{SONG_KEY}"))
    assert (song["title"], song["artist"], song["is_demo_data"]) == ("晴天的海", "Lila", True)
    assert [(one["chart_date"], one["rank"]) for one in song["chart"]["positions"]] == [
        ("2026-03-13", 2),
        ("2026-03-15", 1),
    ]
    assert (song["chart"]["entry_after_date"], song["chart"]["kept_issue_count"]) == (
        "2026-03-12",
        4,
    )
    assert relations(song) == {TRACK: ("same", "title_and_artist")}
    assert song["platform"]["music_ids"] == [TRACK]
    points = song["platform"]["points"]
    assert [point["digg_count"] for point in points] == [10, 40, 90, 100]
    assert [point["growth"]["gained"]["digg_count"] for point in points] == [0, 30, 80, 90]
    assert [point["growth"]["new_work_count"] for point in points] == [1, 0, 0, 0]
    lead = song["lead"]
    assert (lead["low_days"], lead["lead_days"], lead["high_days"]) == (6.0, 8.0, 10.0)
    assert (lead["direction"], lead["reason"], lead["is_estimate"]) == (
        "platform_first",
        None,
        True,
    )
    assert (lead["work_count"], lead["observation_count"]) == (1, 4)


def test_a_song_that_nothing_links_has_no_lead_and_says_why(client: TestClient) -> None:
    song = data(client.get(f"{SONGS}/{OTHER_KEY}"))
    assert (song["links"], song["platform"]["points"]) == ([], [])
    assert (song["lead"]["lead_days"], song["lead"]["reason"]) == (None, "no_observations")


def test_link_decision_overrides_the_rule_and_can_be_withdrawn(client: TestClient) -> None:
    by_rule = data(client.get(f"{SONGS}/{SONG_KEY}"))
    said = {"song_key": SONG_KEY, "music_id": TRACK, "said": "different", "note": " a cover "}
    denied = data(client.post(LINKS, json={**said, "said_by": "Lin"}))
    assert relations(denied) == {TRACK: ("different", "manual_different")}
    assert (denied["platform"]["music_ids"], denied["lead"]["reason"]) == ([], "no_observations")
    assert [(one["said"], one["said_by"], one["note"]) for one in denied["said"]] == [
        ("different", "Lin", "a cover")
    ]
    assert data(client.get(f"{SONGS}/{SONG_KEY}")) == denied
    back = data(client.post(LINKS, json={**said, "said": "withdrawn"}))
    assert relations(back) == relations(by_rule)
    assert (back["lead"], back["platform"]) == (by_rule["lead"], by_rule["platform"])
    reported = data(client.get(LINKS, params={"song_key": SONG_KEY}), LinkDecisionList)
    assert [one["said"] for one in reported["links"]] == ["different", "withdrawn"]
    assert [one["origin"] for one in reported["links"]] == ["api", "api"]


def test_a_person_can_link_what_no_rule_would(client: TestClient) -> None:
    linked = data(client.post(LINKS, json=BODY))
    assert relations(linked) == {TRACK: ("same", "manual_same")}
    assert linked["lead"]["observation_count"] == 4
    gone = data(client.post(LINKS, json=BODY | {"said": "withdrawn"}))
    assert gone["links"] == []
    reported = data(client.get(LINKS), LinkDecisionList)
    assert reported["returned_count"] == len(reported["links"]) >= 2


def refusal(answer: Any, status: int) -> str:
    assert answer.status_code == status, answer.text
    Envelope[ErrorData].model_validate(answer.json())
    return str(answer.json()["data"]["error"]["type"])


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({}, "missing_parameter"),
        ({**BODY, "said": "perhaps"}, "invalid_parameter"),
        ({**BODY, "music_id": "12a45"}, "invalid_parameter"),
        ({**BODY, "note": "x" * 501}, "invalid_parameter"),
        ({**BODY, "said_by": "x" * 101}, "invalid_parameter"),
        ({**BODY, "song_key": ""}, "invalid_parameter"),
        ({**BODY, "why": "x"}, "unknown_parameter"),
    ],
)
def test_a_bad_statement_is_refused_and_kept_nowhere(
    client: TestClient, reads: ReadService, body: dict[str, Any], kind: str
) -> None:
    before = reads.commits("marts.chart_links")
    assert refusal(client.post(LINKS, json=body), 400) == kind
    assert reads.commits("marts.chart_links") == before


@pytest.mark.parametrize("key", ["hash:00", "name:0123", "nothing", "hash:AA11", "%20"])
def test_a_song_of_no_kept_issue_is_not_found(
    client: TestClient, reads: ReadService, key: str
) -> None:
    assert refusal(client.get(f"{SONGS}/{key}"), 404) == "not_found"
    before = reads.commits("marts.chart_links")
    assert refusal(client.post(LINKS, json={**BODY, "song_key": key}), 404) == "not_found"
    assert reads.commits("marts.chart_links") == before


def requests(client: TestClient) -> list[Any]:
    """Each operation once, so that it succeeds."""
    return [
        lambda **more: client.get(f"{SONGS}/{SONG_KEY}", **more),
        lambda **more: client.get(LINKS, **more),
        lambda **more: client.post(LINKS, **{"json": BODY | {"said": "withdrawn"}, **more}),
        lambda **more: client.get(TRACKS, **more),
    ]


@pytest.mark.parametrize("which", [0, 1, 2, 3], ids=["song", "links", "link", "tracks"])
def test_chart_link_operations_refuse_invalid_requests(
    reads: ReadService, which: int, tmp_path: Path
) -> None:
    ask = requests(reads.client())[which]
    assert refusal(ask(params={"a": "b"}), 400) == "unknown_parameter"
    assert refusal(ask(headers={"host": "evil.example"}), 421) == "host_not_allowed"
    cross = {"origin": "http://evil.example", "sec-fetch-site": "cross-site"}
    assert refusal(ask(headers=cross), 403) == "cross_site_request"
    assert (
        refusal(requests(reads.client(own_api_token=SecretStr("sesam")))[which](), 401)
        == "unauthorized"
    )
    hurried = requests(reads.client(rate_limit_per_s=0.001, rate_limit_burst=1))[which]
    hurried()
    assert refusal(hurried(), 429) == "local_rate_limit"
    if which == 2:
        big = {"json": None, "content": b"x" * 70_000, "headers": JSON}
        assert refusal(ask(**big), 413) == "body_too_large"
        assert refusal(ask(json=None, content=b"{}"), 415) == "unsupported_media_type"
        assert refusal(ask(json=None, content=b"{", headers=JSON), 400) == "malformed_json"
    else:
        tag = {"If-None-Match": ask().headers["ETag"]}
        assert ask(headers=tag).status_code == 304


def test_chart_link_operations_need_a_profile(service: Any) -> None:
    for ask in requests(service.client()):
        assert refusal(ask(), 503) == "profile_not_chosen"


def test_a_lake_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with open_reads(tmp_path / "closed") as closed:
        client = closed.client()
        closed.engine.close()
        for ask in requests(client):
            assert refusal(ask(), 503) == "warehouse_unavailable"


def test_links_judged_again_are_counted_and_stored(tmp_path: Path) -> None:
    with open_reads(tmp_path) as reads:
        add_usual(reads.engine)
        client = reads.client()
        before = data(client.get(f"{SONGS}/{SONG_KEY}"))
        assert relations(before) == {TRACK: ("same", "title_and_artist")}
        assert [link["judged_at"] for link in before["links"]] == [None]
        judged = data(client.post(JUDGE), SongLinkUpdate)
        assert (judged["song_count"], judged["issue_count"], judged["row_count"]) == (2, 4, 1)
        assert (judged["relations"], judged["lead_count"]) == ({"same": 1}, 1)
        song = data(client.get(f"{SONGS}/{SONG_KEY}"))
        assert relations(song) == {TRACK: ("same", "title_and_artist")}
        assert [link["judged_at"] for link in song["links"]] != [None]
        again = data(client.post(JUDGE), SongLinkUpdate)
        assert (again["row_count"], again["relations"]) == (0, {"same": 1})


def test_a_scanned_track_is_joined_to_its_song_without_judging(tmp_path: Path) -> None:
    with open_reads(tmp_path) as reads:
        add_usual(reads.engine)
        add_track(reads.engine, COVER, author="Somebody else")
        client = reads.client()
        assert data(client.get(TRACKS), ChartTrackList)["tracks"] == []
        for music_id, job_id in ((TRACK, "job"), (COVER, "other")):
            add_result(reads.engine, music_id, job_id)
        (track,) = data(client.get(TRACKS), ChartTrackList)["tracks"]
        assert (track["song_key"], track["music_id"]) == (SONG_KEY, TRACK)
        assert (track["relation"], track["reason"]) == ("same", "title_and_artist")
        assert track["newest_job_id"] == "job"
        links = data(client.get(f"{SONGS}/{SONG_KEY}"))["links"]
        assert {link["music_id"]: link["newest_job_id"] for link in links} == {
            TRACK: "job", COVER: "other",
        }  # fmt: skip


def test_the_surest_track_of_a_song_comes_first(tmp_path: Path) -> None:
    with open_reads(tmp_path) as reads:
        add_usual(reads.engine)
        add_track(reads.engine, COVER, author=None)
        for music_id, job_id in ((COVER, "other"), (TRACK, "job")):
            add_result(reads.engine, music_id, job_id)
        tracks = data(reads.client().get(TRACKS), ChartTrackList)["tracks"]
        assert [(track["music_id"], track["relation"]) for track in tracks] == [
            (TRACK, "same"), (COVER, "possible"),
        ]  # fmt: skip
