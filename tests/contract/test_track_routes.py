"""The page of a track over HTTP: what the stores know of it, what changed, what is unknown."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import unquote

import pytest
from starlette.testclient import TestClient

from api.responses.documents import Envelope
from api.schemas.extensions.tracks import TrackPage
from tests.charts.chart_rows import row
from tests.scripted_reads import ReadService, open_reads
from warehouse.control import notes
from warehouse.engine.duckdb_engine import Engine

pytestmark = pytest.mark.full

TRACKS = "/api/v1/sametrack/tracks"
TRACK, REUPLOAD = "7300000000000000001", "7300000000000000002"
EARLY, LATE, HIDDEN = "7400000000000000001", "7400000000000000002", "7400000000000000003"
ANN, BEN = "MS4wLjABAAAAann", "MS4wLjABAAAAben"
MONDAY = datetime(2026, 11, 2, 9, tzinfo=UTC)
ORIGIN = {"surface": "s", "data_provider": "mock"}


def add(engine: Engine, table: str, *rows: dict[str, Any], day: int = 0) -> None:
    """Rows that were observed and committed on a day of the week, 0 is Monday."""
    at = MONDAY + timedelta(days=day)
    columns = row(table)
    stamped = {"observed_at": at} if "observed_at" in columns else {}
    engine.lake.append(
        table, [{**row(table, **stamped, **values), "committed_at": at} for values in rows]
    )


def video(aweme_id: str, sec_uid: str, likes: int, *, music_id: str = TRACK) -> dict[str, Any]:
    return {
        **ORIGIN, "aweme_id": aweme_id, "sec_uid": sec_uid, "nickname": sec_uid[-3:],
        "desc": f"caption of {aweme_id[-1]}", "music_id": music_id, "is_exact": True,
        "statistics_complete": True, "digg_count": likes, "comment_count": 1,
        "collect_count": 1, "share_count": 1,
        "created_at": MONDAY - timedelta(days=40 - int(aweme_id[-1])),
    }  # fmt: skip


def scan(engine: Engine, job_id: str, ranking: list[tuple[str, str]], *, day: int) -> None:
    """A finished scan with the videos of its ranking, best first, and their music ids."""
    common = {"job_id": job_id, "music_id": TRACK}
    add(
        engine, "marts.confirmed_videos",
        *({**common, "aweme_id": aweme_id, "source_music_id": music_id, "expansion_round": 0,
           "link_type": "exact_music_id", "algorithm": "1", "sec_uid": owner(aweme_id)}
          for aweme_id, music_id in ranking),
        day=day,
    )  # fmt: skip
    add(
        engine, "marts.rankings",
        *({**common, "rank": rank, "aweme_id": aweme_id, "link_type": "exact_music_id",
           "digg_count": 10 * rank, "statistics_complete": True}
          for rank, (aweme_id, _) in enumerate(ranking, 1)),
        day=day,
    )  # fmt: skip
    add(
        engine, "marts.coverage",
        {"job_id": job_id, "surface": "music_list", "requests": 1, "pages": 1, "items": 2,
         "new_items": 2, "stop_reason": "exhausted"},
        day=day,
    )  # fmt: skip
    add(
        engine, "marts.job_results",
        {**common, "document": b"x", "confirmed_count": len(ranking), "algorithm": "1"},
        day=day,
    )  # fmt: skip


def owner(aweme_id: str) -> str:
    return BEN if aweme_id == EARLY else ANN


def fill(engine: Engine) -> None:
    """A track that was scanned on Monday and on Thursday, when the platform rounded its count."""
    page = {**ORIGIN, "music_id": TRACK, "title": "Night Flight", "author": "A-Z",
            "is_original_sound": False}  # fmt: skip
    add(engine, "raw.tracks", {**page, "use_count": 998_400, "use_count_exact": True})
    rounded = {"use_count": 1_002_000, "use_count_exact": False, "use_count_step": 1000}
    add(engine, "raw.tracks", {**page, **rounded}, day=3)
    add(engine, "raw.tracks", {**page, "music_id": REUPLOAD, "is_original_sound": True}, day=3)
    add(engine, "raw.videos", video(EARLY, BEN, 10))
    add(
        engine, "raw.videos",
        video(EARLY, BEN, 20), video(LATE, ANN, 90, music_id=REUPLOAD), video(HIDDEN, ANN, 5),
        day=3,
    )  # fmt: skip
    profile = {**ORIGIN, "sec_uid": ANN, "follower_count": 700, "ip_location": "IP属地：浙江"}
    add(engine, "raw.accounts", profile, day=3)
    scan(engine, "first", [(EARLY, TRACK)], day=0)
    scan(engine, "second", [(LATE, REUPLOAD), (EARLY, TRACK)], day=3)
    add(
        engine, "marts.variants",
        {"music_id": TRACK, "aweme_id": HIDDEN, "job_id": "second", "source_music_id": TRACK,
         "kind": "speed", "speed": 1.25, "semitones": 3.9, "comparison_id": "c", "algorithm": "1"},
        day=3,
    )  # fmt: skip
    engine.refresh()


@pytest.fixture(scope="module")
def reads(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReadService]:
    with open_reads(tmp_path_factory.mktemp("track")) as reads:
        fill(reads.engine)
        yield reads


@pytest.fixture(scope="module")
def page(reads: ReadService) -> Any:
    notes.write(reads.control, "track", TRACK, text="for the campaign", tags=["autumn"])
    answer = reads.client().get(f"{TRACKS}/{TRACK}")
    assert answer.status_code == 200, answer.text
    Envelope[TrackPage].model_validate(answer.json())
    return answer.json()["data"]


def test_the_usage_count_has_a_point_for_each_day_with_an_observation(page: Any) -> None:
    assert page["usage"]["points"] == [
        {
            "day": "2026-11-02", "use_count": 998_400, "use_count_exact": True,
            "use_count_step": None, "range": None, "uses_gained": None, "previous_date": None,
            "use_count_observed_at": "2026-11-02T09:00:00Z",
        },
        {
            "day": "2026-11-05", "use_count": 1_002_000, "use_count_exact": False,
            "use_count_step": 1000, "range": [1_001_500, 1_003_000], "uses_gained": 3600,
            "previous_date": "2026-11-02", "use_count_observed_at": "2026-11-05T09:00:00Z",
        },
    ]  # fmt: skip
    assert page["music"]["use_count"] == 1_002_000
    assert page["music"]["use_count_exact"] is False
    assert page["music"]["use_count_observed_at"] == "2026-11-05T09:00:00Z"


def test_music_ids_are_apart_by_kind_and_their_sum_says_what_it_lacks(page: Any) -> None:
    official, user_made = page["music_ids"]["official"], page["music_ids"]["user_made"]
    assert [entry["music_id"] for entry in official["music_ids"]] == [TRACK]
    assert (official["use_count"], official["use_count_exact"]) == (1_002_000, False)
    assert [entry["music_id"] for entry in user_made["music_ids"]] == [REUPLOAD]
    assert (user_made["use_count"], user_made["counted_music_id_count"]) == (None, 0)
    assert page["music_ids"]["unknown"]["music_ids"] == []
    assert (page["use_count"], page["uncounted_music_id_count"]) == (1_002_000, 1)


def test_our_videos_are_counted_by_the_end_of_each_day_with_a_read(page: Any) -> None:
    assert page["videos"] == [
        {"day": "2026-11-02", "observed_video_count": 1, "confirmed_video_count": 1},
        {"day": "2026-11-05", "observed_video_count": 3, "confirmed_video_count": 2},
    ]


def test_each_scan_says_what_changed_since_the_one_before(page: Any) -> None:
    second, first = page["scans"]
    assert (second["job_id"], second["previous_job_id"]) == ("second", "first")
    assert second["has_result"]
    assert (second["confirmed_video_count"], second["music_id_count"]) == (2, 2)
    assert (second["new_video_count"], second["gone_video_count"]) == (1, 0)
    assert second["new_music_id_count"] == 1
    assert (second["risen_video_count"], second["fallen_video_count"]) == (0, 1)
    assert (first["digg_count"], second["digg_count"]) == (10, 20 + 90)
    changes = [name for name in first if name.endswith("_video_count") or name.startswith("new_")]
    unknown = [name for name in changes if first[name] is None]
    assert unknown == [
        "new_video_count", "gone_video_count", "new_music_id_count", "risen_video_count",
        "fallen_video_count",
    ]  # fmt: skip


def test_creators_are_ordered_by_their_first_video_and_by_their_followers(page: Any) -> None:
    assert [creator["sec_uid"] for creator in page["first_creators"]] == [BEN, ANN]
    assert page["first_creators"][0]["first_aweme_id"] == EARLY
    assert [creator["sec_uid"] for creator in page["biggest_creators"]] == [ANN]
    assert page["account_count"] == 2


def test_regions_are_counted_with_the_accounts_of_unknown_region_last(page: Any) -> None:
    assert page["regions"] == [
        {"ip_location": "浙江", "account_count": 1},
        {"ip_location": None, "account_count": 1},
    ]


def test_variants_and_the_note_are_on_the_page(page: Any) -> None:
    assert (page["variants"]["count"], page["variants"]["by_kind"]) == (1, {"speed": 1})
    assert page["variants"]["videos"][0]["desc"] == "caption of 3"
    assert (page["note"]["note"], page["note"]["tags"]) == ("for the campaign", ["autumn"])


def test_a_music_id_of_another_track_has_a_page_without_scans(reads: ReadService) -> None:
    data = reads.client().get(f"{TRACKS}/{REUPLOAD}").json()["data"]
    assert (data["scans"], data["first_creators"], data["usage"]["points"]) == ([], [], [])
    assert (data["use_count"], data["uncounted_music_id_count"]) == (None, 1)
    assert data["note"] is None


def test_a_music_id_of_which_nothing_is_stored_is_not_found_and_says_what_to_do(
    reads: ReadService,
) -> None:
    answer = reads.client().get(f"{TRACKS}/7399999999999999999")
    error = answer.json()["data"]["error"]
    assert (answer.status_code, error["type"]) == (404, "not_found")
    assert "7399999999999999999" in error["detail"]
    assert error["hint"].startswith("Scan it first")


@pytest.mark.parametrize(("language", "shown"), [("en", "en"), ("zh", "zh-Hans")])
def test_the_page_is_a_file_without_script(reads: ReadService, language: str, shown: str) -> None:
    file = reads.client().get(f"{TRACKS}/{TRACK}/report", params={"language": language})
    assert file.status_code == 200
    assert file.headers["content-type"] == "text/html; charset=utf-8"
    assert "sandbox" in file.headers["content-security-policy"]
    name = unquote(file.headers["content-disposition"])
    assert "Night Flight – " in name
    assert f'<html lang="{shown}">' in file.text
    assert "<script" not in file.text
    assert "for the campaign" not in file.text


def test_a_file_of_an_unknown_track_or_language_is_refused(reads: ReadService) -> None:
    unknown = reads.client().get(f"{TRACKS}/7399999999999999999/report")
    assert unknown.json()["data"]["error"]["type"] == "not_found"
    assert reads.client().get(f"{TRACKS}/{TRACK}/report?language=fr").status_code == 400


@pytest.mark.parametrize("music_id", ["1234", "abcdef", "1" * 31])
def test_what_is_no_music_id_is_refused(reads: ReadService, music_id: str) -> None:
    answer = reads.client().get(f"{TRACKS}/{music_id}")
    assert answer.status_code == 400
    assert answer.json()["data"]["error"]["type"] == "invalid_parameter"


def test_the_counts_and_the_scans_can_be_exported(reads: ReadService) -> None:
    client: TestClient = reads.client()
    query = {"source": f"{TRACKS}/{TRACK}", "form": "csv"}
    counts = client.get("/api/v1/sametrack/export", params={**query, "table": "track_usage"})
    assert counts.text.splitlines()[1].startswith("2026-11-02,998400,True,")
    scans = client.get("/api/v1/sametrack/export", params={**query, "table": "track_scans"})
    assert [line.split(",")[1] for line in scans.text.splitlines()[1:]] == ["second", "first"]
