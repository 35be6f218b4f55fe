"""Every notebook of `notebooks/explore` runs as it is.

One kernel runs all of them, each with the names and the world of its own: loading pandas and
matplotlib takes longer than a notebook. `make soak` runs each by plain papermill.
"""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.notebooks.conftest import ACCOUNT, START
from tests.notebooks.kernels import ROOT, Kernel
from warehouse.home import open_home
from warehouse.lake.store import open_lake

pytestmark = pytest.mark.full

FOLDER = ROOT / "notebooks" / "explore"
NAMES = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
TRACK = "7400000000000000001"  # of the world in conftest.py
OTHER = "7400000000000000002"
TYPED = {
    "compare_tracks": ("-p", "tracks", f"{TRACK},{OTHER}"),
    "growth_of_a_track": ("-p", "music_id", TRACK),
    "life_of_a_music_id": ("-p", "music_id", TRACK),
    "matcher_under_the_microscope": ("-p", "music_id", TRACK),
    "spread_over_accounts_and_hashtags": ("-p", "music_id", TRACK),
}
"""Ids as one types them: papermill makes numbers of them."""
SAYS = {
    "chart_and_platform": "Song 1: best position 1, on 2026-09-01, 2026-09-07,",  # equal days
    "compare_tracks": "Most videos: Song 1, Song 2 (4)",  # equal tracks
    "first_steps": "No scan has confirmed a video",  # this world has no rankings
    "growth_of_a_track": f"Track {TRACK}, 2026-10-01 12:00 to 2026-10-08 12:00:",
    "life_of_a_music_id": f"Confirmed for track {TRACK} by exact_music_id: 2.",
    "matcher_under_the_microscope": "confirmed (local_rule_met): video",
    "spread_over_accounts_and_hashtags": "4 confirmed videos of 2 accounts.",
}
SAYS_OF_NOTHING = {
    "chart_and_platform": "No issue of the chart",
    "compare_tracks": "There is nothing to compare",
    "first_steps": "No scan has confirmed a video",
    "growth_of_a_track": "No confirmed video of track (none was scanned)",
    "life_of_a_music_id": "No observation has the music id",
    "matcher_under_the_microscope": "No pair of track (none was scanned) was compared.",
    "spread_over_accounts_and_hashtags": "No video of track (none was scanned) was confirmed.",
}


@pytest.fixture(scope="module")
def empty_world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data_home = tmp_path_factory.mktemp("empty")
    open_lake(open_home(data_home, "sandbox").lake_url, world="sandbox")
    return data_home


def run(kernel: Kernel, name: str, data_home: Path, *parameters: str) -> list[Any]:
    """The code cells of a notebook, with parameters as one types them for papermill."""
    typed = zip(parameters[1::3], parameters[2::3], strict=True)
    given = {one: int(text) if text.isdecimal() else text for one, text in typed}
    notebook = kernel.run(FOLDER / f"{name}.ipynb", given, DATA_HOME=str(data_home))
    return [cell for cell in notebook.cells if cell["cell_type"] == "code"]


def run_by_papermill(name: str, data_home: Path, output: Path, *parameters: str) -> list[Any]:
    """The code cells of a notebook after papermill has run it, in a folder of the checkout."""
    file = output / f"{name}.ipynb"
    ended = subprocess.run(
        [sys.executable, "-m", "papermill", f"{name}.ipynb", str(file), *parameters],
        cwd=FOLDER, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "DATA_HOME": str(data_home)},
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr[-3_000:]
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def printed(cells: list[Any]) -> str:
    outputs = [each for cell in cells for each in cell["outputs"]]
    assert [each for each in outputs if each.get("name") == "stderr"] == []
    return "".join("".join(each["text"]) for each in outputs if each["output_type"] == "stream")


def kinds(cells: list[Any]) -> set[str]:
    return {kind for cell in cells for each in cell["outputs"] for kind in each.get("data", {})}


def test_every_explore_notebook_has_an_expected_answer() -> None:
    assert list(SAYS) == list(SAYS_OF_NOTHING) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_explore_notebook_shows_tables_a_plot_and_its_answer(
    name: str, workshop: Any, kernel: Kernel
) -> None:
    cells = run(kernel, name, workshop.settings.data_home, *TYPED.get(name, ()))
    assert {"text/html", "image/svg+xml"} <= kinds(cells)
    assert SAYS[name] in printed(cells)


@pytest.mark.parametrize(
    "name", [NAMES[0], *(pytest.param(one, marks=pytest.mark.soak) for one in NAMES[1:])]
)
def test_an_empty_world_gives_a_plain_sentence(
    name: str, empty_world: Path, kernel: Kernel
) -> None:
    assert SAYS_OF_NOTHING[name] in printed(run(kernel, name, empty_world))


@pytest.fixture(scope="module")
def tied_world(workshop: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scanned track whose videos are all alike; of one, no surface shows the hashtags.

    Its accounts have other names since, and a search by name came later than all of it.
    """
    root = tmp_path_factory.mktemp("tied")
    home = open_home(root, "sandbox")
    made = type(workshop)(home, open_lake(home.lake_url, world="sandbox"), workshop.settings, root)
    made.add_scan(TRACK, day=0, likes=4_000)
    made.add_search(day=2)
    add = made._adder(START + timedelta(days=1))
    ids = [f"751000000000000{number:04}" for number in range(4)]
    tags: tuple[list[str] | None, ...] = (["a", "b"], ["b", "a"], [], None)
    for number, (aweme_id, names) in enumerate(zip(ids, tags, strict=True)):
        video = {
            "aweme_id": aweme_id, "surface": "video_page",
            "created_at": datetime(2025, 1 + number % 2, 1, tzinfo=UTC),
            "sec_uid": f"{ACCOUNT[:-1]}{1 + number // 2}", "nickname": f"Name {number // 2}",
            "digg_count": 5_000, "comment_count": 5, "collect_count": 3, "share_count": 2,
            "statistics_complete": True, "capture_id": None, "music_id": TRACK,
            "hashtag_ids": names, "hashtag_names": names,
        }  # fmt: skip
        later = {"surface": "music_list", "digg_count": 5_000, "hashtag_ids": None}
        add("raw.videos", video, video | later | {"hashtag_names": None})
        rank = {"job_id": "j", "music_id": TRACK, "aweme_id": aweme_id, "rank": number + 1}
        add("marts.rankings", rank | {"digg_count": 5_000, "link_type": "exact_music_id"})
    return root


@pytest.mark.parametrize(
    ("name", "parameters", "says"),
    [
        (
            "first_steps",
            (),
            ["most liked of the confirmed videos are, with equal likes, 7510000000000000000,"],
        ),
        (
            "first_steps",
            ("-p", "top", "3"),
            ["confirmed videos are, with equal likes, among others, 7510000000000000000,"],
        ),
        (
            "spread_over_accounts_and_hashtags",
            (),
            [
                "4 confirmed videos of 2 accounts.",
                "Name 0, Name 1 have each 50% of the known likes;",
                "#a, #b are each on 2 videos, the most of all hashtags.",
                "Which hashtags 1 of the videos have is unknown.",
            ],
        ),
        ("life_of_a_music_id", ("-p", "music_id", TRACK), ["by Name 0, Name 1, of 2025-01-01;"]),
        (
            "growth_of_a_track",
            (),
            [f"Track {TRACK}", "Most of its videos in a month: 2, in 2025-01, 2025-02."],
        ),
        ("compare_tracks", (), ["Only one track has confirmed videos: Song 1."]),
    ],
)
def test_all_that_are_equal_are_named_and_the_newest_track_is_no_search_by_name(
    name: str, parameters: tuple[str, ...], says: list[str], tied_world: Path, kernel: Kernel
) -> None:
    text = printed(run(kernel, name, tied_world, *parameters))
    assert [one for one in says if one not in text] == [], text


@pytest.mark.soak
@pytest.mark.parametrize("name", NAMES)
def test_plain_papermill_runs_it_without_a_flag(name: str, workshop: Any, tmp_path: Path) -> None:
    home = workshop.settings.data_home
    cells = run_by_papermill(name, home, tmp_path, *TYPED.get(name, ()))
    assert {"text/html", "image/svg+xml"} <= kinds(cells)
    assert SAYS[name] in printed(cells)
