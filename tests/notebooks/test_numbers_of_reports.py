"""What notebooks compute where a lake has replays, copies, discoveries and names that are equal.

The cells run here, without a kernel, over a small lake of their own.
"""

import ast
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from pipelines.reports.catalogue import NOTEBOOKS
from tests.lake_rows import to_row
from tests.notebooks.conftest import ACCOUNT, START, TRACKS, Workshop
from warehouse.home.folder import open_home
from warehouse.lake.packing import pack_document
from warehouse.lake.store import open_lake

TRACK = TRACKS[0]
SHARED = f"{TRACK[:-1]}9"  # the music id that a scan of any track confirms
OTHER_ACCOUNT = f"{ACCOUNT[:-1]}2"
SAME_NAME = "音乐分享"


def run(home: Path, notebook: str, **given: object) -> dict[str, Any]:
    """Run the code cells of a notebook; return its names, and what cells show as `shown`."""
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
    return home.root


def add_later_jobs(made: Workshop) -> None:
    """A copy of the result of a scan, and a discovery of its track that compares one pair."""
    document = pack_document({"kind": "discovery"})
    about = {"music_id": TRACK, "document": document}
    add(made, "marts.job_results", about | {"job_id": "copy"}, day=1)
    add(made, "marts.job_results", about | {"job_id": "discovery"}, day=2)
    add(made, "marts.discovered_videos", {"job_id": "discovery", "track_music_id": TRACK}, day=2)
    pair = {
        "job_id": "discovery", "track_music_id": TRACK, "comparison_id": "of-the-discovery",
        "verdict": "rejected", "chroma_distance": 0.9, "mfcc_distance": 0.9, "score": 0.1,
        "limits": "{}",
    }  # fmt: skip
    add(made, "marts.audio_comparisons", pair, day=2)


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
    """One song in two issues, whose source spells its hash once in capitals."""
    for day, song_hash in ((1, "ABCDEF"), (2, "abcdef")):
        issue = {"volid": f"v{day}", "chart_date": date(2026, 9, day)}
        song = {"capture_id": "r", "rank": 1, "title": "Song", "song_hash": song_hash}
        add(made, "raw.chart_issues", issue | {"capture_id": None}, day=day)
        add(made, "raw.chart_songs", issue | song, day=day)


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
    assert [row["comparison_id"][:5] for row in found["pairs"].to_pylist()] == ["job-1"] * 3
    names = {row["sec_uid"]: row["nickname"] for row in found["users"].to_pylist()}
    assert names == {ACCOUNT: "Ann", OTHER_ACCOUNT: SAME_NAME}
    compared = run(home, "reports/comparison.ipynb", music_ids=",".join(TRACKS[:2]))
    assert compared["summary"].column("scan_count").to_pylist() == [1, 1]


def test_the_accuracy_of_the_matcher_is_of_the_newest_scan(home: Path) -> None:
    found = run(home, "reports/matcher.ipynb", music_id=TRACK)
    assert (found["pairs"].num_rows, found["pool"].num_rows) == (3, 4)


def test_a_song_is_one_however_its_hash_is_spelt(home: Path) -> None:
    (song,) = run(home, "reports/chart.ipynb")["songs"].to_pylist()
    assert song["issue_count"] == 2


def test_a_music_id_of_two_tracks_is_once_in_its_family(home: Path) -> None:
    found = run(home, "explore/life_of_a_music_id.ipynb", music_id=SHARED)
    assert found["family"]["music_id"].is_unique
    assert {*TRACKS[:2], SHARED} <= set(found["family"]["music_id"])


def test_accounts_of_one_name_have_a_bar_each(home: Path) -> None:
    found = run(home, "explore/spread_over_accounts_and_hashtags.ipynb", music_id=TRACK)
    assert list(found["accounts"]["nickname"]) == [SAME_NAME] * 2
    assert found["drawn"]["account"].is_unique
