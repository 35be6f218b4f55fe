"""What notebooks compute where a lake has replays, copies, discoveries and names that are equal.

The cells run here, without a kernel, over a small lake of their own.
"""

import ast
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from pipelines.reports.catalogue import NOTEBOOKS
from tests.notebooks.conftest import ACCOUNT, START, TRACKS, Workshop
from tests.warehouse.lake_rows import to_row
from warehouse.home import open_home
from warehouse.lake.record_rows import pack_document
from warehouse.lake.store import open_lake
from warehouse.records.errors import InvalidParameterError

pytestmark = pytest.mark.full

TRACK = TRACKS[0]
SHARED = f"{TRACK[:-1]}9"  # the music id that a scan of any track confirms
UNSCANNED = TRACKS[2]
OTHER_ACCOUNT = f"{ACCOUNT[:-1]}2"
SEEN_TWICE = f"{ACCOUNT[:-1]}9"  # by another source each time
SAME_NAME = "音乐分享"


@cache
def run(home: Path, notebook: str, **given: object) -> dict[str, Any]:
    """Run the code cells of a notebook; return its names, and what cells show as `shown`.

    Tests that look at the same run share it.
    """
    found: dict[str, Any] = {"shown": []}
    for cell in read_cells(notebook):
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, notebook, "exec"), found)
        if isinstance(last, ast.Expr):
            shown = eval(compile(ast.Expression(last.value), notebook, "eval"), found)
            found["shown"].append(getattr(shown, "text", ""))
        if "parameters" in cell["metadata"].get("tags", ()):
            found |= {"home": str(home), **given}
    found["wh"].close()
    return found


def read_cells(notebook: str) -> list[Any]:
    import nbformat  # noqa: PLC0415 -- takes 0.2 s

    cells = nbformat.read(NOTEBOOKS.parent / notebook, as_version=4).cells  # type: ignore[no-untyped-call]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def add(made: Workshop, table: str, *rows: dict[str, Any], day: int) -> None:
    at = START + timedelta(days=day)
    made.lake.append(table, [to_row(table, at, **row) for row in rows])


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("numbers")
    home = open_home(root, "sandbox")
    settings: Any = None
    made = Workshop(home, open_lake(home.lake_url, world="sandbox"), settings, root)
    for track in TRACKS[:2]:
        made.add_scan(track, day=0, likes=4_000)
    add_later_jobs(made)
    add_profiles(made)
    add_replayed_captures(made)
    add_songs(made)
    add_shared_videos(made)
    return home.root


def add_later_jobs(made: Workshop) -> None:
    """A copy of the result of a scan, a discovery of its track that compares one pair.

    Another discovery is of a track that no scan was about.
    """
    document = pack_document({"kind": "discovery"})
    about = {"music_id": TRACK, "document": document}
    add(made, "marts.job_results", about | {"job_id": "copy"}, day=1)
    add(made, "marts.job_results", about | {"job_id": "discovery"}, day=2)
    add(made, "marts.job_results", about | {"job_id": "d3", "music_id": UNSCANNED}, day=3)
    add(made, "marts.discovered_videos", {"job_id": "discovery", "track_music_id": TRACK}, day=2)
    pair = {
        "job_id": "discovery", "track_music_id": TRACK, "comparison_id": "of-the-discovery",
        "verdict": "rejected", "chroma_distance": 0.9, "mfcc_distance": 0.9, "score": 0.1,
        "limits": "{}",
    }  # fmt: skip
    add(made, "marts.audio_comparisons", pair, day=2)
    silent = {
        "job_id": "job-1-0", "track_music_id": TRACK, "comparison_id": "job-1-0-silent",
        "verdict": "not_comparable", "reason": "silent", "limits": "{}",
    }  # fmt: skip
    add(made, "marts.audio_comparisons", silent, day=0)


def add_profiles(made: Workshop) -> None:
    """Followers in one field, then in another; the first profile was replayed, and renamed since.

    Another account has the name of the first one's videos, and no profile.
    """
    profile = {"sec_uid": ACCOUNT, "surface": "user_info"}
    for day, capture_id, nickname, followers, field in (
        (0, "c", "Zoe", 999, "follower_count"),
        (0, "r", "Zoe", 1_000, "follower_count"),
        (1, None, "Zoe", 54_000, "mplatform_followers_count"),
        (2, None, "Ann", 1_010, "follower_count"),
        (3, None, "Ann", 54_100, "mplatform_followers_count"),
    ):
        counted = {"follower_count": followers, "follower_count_source": field}
        row = profile | {"capture_id": capture_id, "nickname": nickname} | counted
        add(made, "raw.accounts", row, day=day)
    video = {
        "aweme_id": "751000000000000" + "0003", "surface": "video_page", "sec_uid": OTHER_ACCOUNT,
        "nickname": SAME_NAME, "digg_count": 1, "statistics_complete": False, "capture_id": None,
    }  # fmt: skip
    add(made, "raw.videos", video, day=4)
    made.rename_author(TRACK, day=4, nickname=SAME_NAME)


def add_replayed_captures(made: Workshop) -> None:
    """A capture whose body was read again, and a refused one that is read today."""
    read = {"surface": "user_info", "outcome": "ok", "item_count": 1, "request_count": 1}
    refused = read | {"outcome": "schema_changed", "reason": "key_missing", "item_count": None}
    again = read | {"request_count": 0}
    add(made, "raw.captures", read | {"capture_id": "c"}, refused | {"capture_id": "d"}, day=0)
    add(
        made, "raw.captures",
        again | {"capture_id": "r", "reason": "replay of c"},
        again | {"capture_id": "s", "reason": "replay of d"},
        day=0,
    )  # fmt: skip


def add_songs(made: Workshop) -> None:
    """A song in two issues, whose source spells its hash once in capitals, and a namesake."""
    for day, rank, song_hash in ((1, 1, "ABCDEF"), (2, 1, "abcdef"), (3, 80, "namesake")):
        issue = {"volid": f"v{day}", "chart_date": date(2026, 9, day)}
        song = {"capture_id": "r", "rank": rank, "title": "Song", "song_hash": song_hash}
        add(made, "raw.chart_issues", issue | {"capture_id": None}, day=day)
        add(made, "raw.chart_songs", issue | song, day=day)


def add_shared_videos(made: Workshop) -> None:
    """A video of two tracks; one that was observed twice, of a song with few observations."""
    both = {
        "music_id": TRACKS[1], "aweme_id": f"751{'0' * 16}", "job_id": "job-2-0",
        "link_type": "audio_fingerprint_match", "source_music_id": SHARED,
    }  # fmt: skip
    grown = both | {"music_id": UNSCANNED, "aweme_id": "7530"}
    add(made, "marts.confirmed_videos", both, grown, day=0)
    for day, likes in ((0, 5), (5, 9)):
        seen = {
            "aweme_id": "7530", "surface": "video_page", "digg_count": likes, "comment_count": 0,
            "collect_count": 0, "share_count": 0, "statistics_complete": True, "capture_id": None,
        }  # fmt: skip
        add(made, "raw.videos", seen, day=day)
    for music_id, observations in ((TRACKS[1], 9), (UNSCANNED, 2)):
        song = {
            "song_key": music_id, "music_id": music_id, "relation": "same", "title": "Song",
            "first_chart_date": date(2026, 9, 1), "last_chart_date": date(2026, 9, 2),
            "observation_count": observations,
        }  # fmt: skip
        add(made, "marts.chart_platform", song, day=6)
    for day, surface in ((0, "user_info"), (1, "video_page")):
        profile = {
            "sec_uid": SEEN_TWICE, "surface": surface, "capture_id": None,
            "follower_count": 10 + day, "total_favorited": day,
        }  # fmt: skip
        add(made, "raw.accounts", profile, day=day)


def test_followers_of_two_fields_are_no_growth_and_a_profile_has_its_newest_name(
    home: Path,
) -> None:
    found = run(home, "reports/creator.ipynb", sec_uid=ACCOUNT)
    assert "[plot] Followers rose from 54,000 to 54,100" in found["shown"]
    assert found["account"].name == "Ann"
    series = found["series"].to_pylist()
    assert [row["follower_count"] for row in series] == [1_000, 54_000, 1_010, 54_100]
    assert series[0]["follower_count_source"] == "follower_count"
    before = run(home, "reports/creator.ipynb", sec_uid=ACCOUNT, as_of="2026-10-02T12:00:00Z")
    assert [one for one in before["shown"] if "Followers rose" in one] == []
    third = run(home, "reports/creator.ipynb", sec_uid=ACCOUNT, as_of="2026-10-03T12:00:00Z")
    assert "[plot] Followers rose from 1,000 to 1,010" in third["shown"]


def test_a_replayed_capture_is_one_capture_with_what_it_says_today(home: Path) -> None:
    found = run(home, "reports/quality.ipynb")
    assert (found["successful"], found["total"]) == (2, 2)
    read = next(row for row in found["captures"].to_pylist() if row["outcome"] == "ok")
    assert (read["captures"], read["items"]) == (2, 2)
    assert sum(row["requests"] for row in found["captures"].to_pylist()) == 2
    assert found["reasons"].num_rows == 0
    assert [row["captures"] for row in found["days"].to_pylist()] == [2]


def test_a_copied_result_and_a_discovery_are_no_scans(home: Path) -> None:
    found = run(home, "reports/track.ipynb", music_id=TRACK)
    (summary,) = found["summary"].to_pylist()
    assert (summary["scan_count"], summary["last_scan"]) == (1, START)
    assert [row["comparison_id"][:5] for row in found["pairs"].to_pylist()] == ["job-1"] * 4
    names = {row["sec_uid"]: row["nickname"] for row in found["users"].to_pylist()}
    assert names == {ACCOUNT: "Ann", OTHER_ACCOUNT: SAME_NAME}
    compared = run(home, "reports/comparison.ipynb")
    assert compared["summary"].column("scan_count").to_pylist() == [1, 1]


def test_the_latest_tracks_are_those_of_scans_and_no_other_is_reported(home: Path) -> None:
    assert run(home, "reports/track.ipynb")["track"].id == TRACK
    assert run(home, "explore/growth_of_a_track.ipynb")["track"] == TRACK
    chosen = run(home, "reports/comparison.ipynb")["chosen"]
    assert [one.id for one in chosen] == list(TRACKS[:2])
    with pytest.raises(InvalidParameterError, match=f"no track '{UNSCANNED}'.*the nearest is 7400"):
        run(home, "reports/track.ipynb", music_id=UNSCANNED)


def test_a_video_of_two_tracks_is_counted_once_on_the_cover(home: Path) -> None:
    found = run(home, "reports/comparison.ipynb")
    assert found["summary"].column("work_count").to_pylist() == [4, 5]
    assert any("confirmed videos: 8" in text for text in found["shown"])


def test_a_sum_of_hot_scores_says_of_how_many_videos(home: Path) -> None:
    found = run(home, "reports/track.ipynb", music_id=TRACK)
    counted = {row["sec_uid"]: row["with_all_counts"] for row in found["users"].to_pylist()}
    assert counted == {ACCOUNT: 2, OTHER_ACCOUNT: 1}
    assert [row["with_all_counts"] for row in found["ids"].to_pylist()] == [2, 1]
    assert any("videos without all four counts: 1" in text for text in found["shown"])


def test_the_accuracy_of_the_matcher_is_of_the_newest_scan(home: Path) -> None:
    found = run(home, "reports/matcher.ipynb", music_id=TRACK)
    assert (found["pairs"].num_rows, found["pool"].num_rows) == (4, 4)
    pairs = run(home, "explore/matcher_under_the_microscope.ipynb", music_id=TRACK)["pairs"]
    assert set(pairs["comparison_id"]) == {f"job-1-0-{number}" for number in range(3)}


def test_not_comparable_pairs_are_not_counted_as_compared(home: Path) -> None:
    reported = "1 of 3 compared pairs were confirmed"
    for name in ("track", "matcher"):
        shown = run(home, f"reports/{name}.ipynb", music_id=TRACK)["shown"]
        assert any(reported in text for text in shown), name


def test_a_viral_line_is_a_number_of_likes(home: Path) -> None:
    for line in (0, -5):
        with pytest.raises(InvalidParameterError, match=f"viral_line: {line} is not between"):
            run(home, "reports/matcher.ipynb", viral_line=line)


def test_a_song_is_one_however_its_hash_is_spelt(home: Path) -> None:
    songs = run(home, "reports/chart.ipynb")["songs"].to_pylist()
    assert [song["issue_count"] for song in songs] == [2, 1]
    positions = run(home, "explore/chart_and_platform.ipynb", song="song")["positions"]
    assert list(positions["position"]) == [1, 1]


def test_the_likes_of_a_song_are_of_one_whose_videos_were_observed_twice(home: Path) -> None:
    found = run(home, "reports/chart.ipynb")
    assert found["song"]["music_id"] == UNSCANNED
    assert "[plot] Song: videos observed at least twice gained 4 likes" in found["shown"]


def test_one_observation_by_each_of_two_sources_is_no_growth_and_no_lack(home: Path) -> None:
    for language, reported in (("en", "No source showed"), ("zh", "没有来源两次")):
        shown = run(home, "reports/creator.ipynb", sec_uid=SEEN_TWICE, language=language)["shown"]
        assert len([text for text in shown if text.startswith(reported)]) == 2


def test_a_music_id_of_two_tracks_is_once_in_its_family(home: Path) -> None:
    found = run(home, "explore/life_of_a_music_id.ipynb", music_id=SHARED)
    assert found["family"]["music_id"].is_unique
    assert {*TRACKS[:2], SHARED} <= set(found["family"]["music_id"])


def test_accounts_of_one_name_have_a_bar_each(home: Path) -> None:
    found = run(home, "explore/spread_over_accounts_and_hashtags.ipynb", music_id=TRACK)
    assert list(found["accounts"]["nickname"]) == [SAME_NAME] * 2
    assert found["drawn"]["account"].is_unique


def test_videos_without_a_known_author_are_of_no_account(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(home, "explore/spread_over_accounts_and_hashtags.ipynb", music_id=UNSCANNED)
    assert "1 confirmed videos of 0 accounts." in capsys.readouterr().out


def test_a_comparison_says_how_many_likes_are_in_no_sum(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = run(home, "explore/compare_tracks.ipynb", tracks=",".join(TRACKS[:2]))
    assert list(found["compared"]["videos_with_likes"]) == [4, 4]
    assert "which are in no sum: 1." in capsys.readouterr().out
