"""The page of a digest: hostile text stays text, nothing is fetched, both languages are there."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from pipelines.documents.messages import FIGURES
from pipelines.documents.palette import report_variables
from pipelines.watchlists.changes import ObservedVideo, WatchObservation, find_changes
from pipelines.watchlists.digest import DigestEntry, build_digest, render_digest
from tests.watchlists.simulated_songs import MONDAY
from warehouse.records.values import Document
from warehouse.records.videos import Statistics
from warehouse.records.watchlists import (
    DigestThresholds,
    EntryCheck,
    WatchlistEntry,
    WatchlistPlan,
    WatchlistRun,
)

HOSTILE = "<script>alert(1)</script>\u202e{{ 7 * 7 }}\x1b[31m"
RUN = WatchlistRun(
    run_id="3f1c9a52-6d0e-4b7a-9c54-0a7d3f2b8e61", watchlist="songs",
    plan=WatchlistPlan(name="songs", every="daily", entries=()), due_at=MONDAY, origin="schedule",
    status="waiting", missed_count=2, tries=1, began_at=MONDAY, ended_at=None, outcome=None,
    digest=None, told=None,
)  # fmt: skip
LOOK = EntryCheck(
    run_id=RUN.run_id, position=0, watchlist="songs",
    entry=WatchlistEntry(kind="track", input=HOSTILE),
    status="completed", subject="70001",
)  # fmt: skip


def seen(day: int, *likes: int | None) -> WatchObservation:
    moment = MONDAY + timedelta(days=day)
    works = tuple(
        ObservedVideo(
            aweme_id=f"7350000{number}", observed_at=moment, title=HOSTILE,
            rank=number if day == 0 else 5 - number,
            music_id=f"7000{number}", link_type="exact_music_id",
            statistics=Statistics(
                digg_count=count, comment_count=1, collect_count=1, share_count=1
            ),
        )
        for number, count in enumerate(likes, 1)
        if count != 0
    )  # fmt: skip
    return WatchObservation(
        kind="track", subject="70001", observed_at=moment, title=HOSTILE, works=works,
        figures=dict.fromkeys(FIGURES, day) | {"confirmed_count": None},
    )  # fmt: skip


def digest(*, is_demo: bool = True) -> Document:
    before, after = seen(0, 10, 0, 30, 40), seen(1, 9000, 20, None, 0)
    changes = find_changes(before, after, thresholds=DigestThresholds(velocity=1.0, rank_change=1))
    assert changes.count == 6
    failed = replace(
        LOOK, status="failed", error={"type": "upstream_empty", "detail": HOSTILE, "hint": None}
    )
    reports = [DigestEntry(LOOK, after, changes), DigestEntry(failed, None, None)]
    return build_digest(RUN, reports, ended_at=MONDAY, is_demo=is_demo)


def test_hostile_text_stays_text() -> None:
    page = render_digest(digest())
    assert "&lt;script&gt;" in page
    assert "<script" not in page
    assert "{{ 7 * 7 }}" in page
    assert not {"\u202e", "\x1b"} & set(page)


def test_digest_page_loads_no_resources_and_runs_no_script() -> None:
    page = render_digest(digest())
    assert "default-src 'none'" in page
    assert re.findall(r"(?:src|href|url)\s*[=(]", page) == []
    assert re.findall(r"https?://", page) == []
    assert "prefers-color-scheme: dark" in page


def test_digest_page_has_the_colours_and_fonts_of_the_palette() -> None:
    page = render_digest(digest())
    palette = report_variables()
    assert palette in page
    assert re.findall(r"#[0-9a-f]{3,8}\b", page.replace(palette, "")) == []
    assert set(re.findall(r"font: [^;]*?([^\s;]+);", page.replace(palette, ""))) == {
        "var(--font)",
        "var(--mono)",
    }


def test_every_word_is_there_in_both_languages() -> None:
    page = render_digest(digest())
    assert page.count('<span lang="en">') == page.count('<span lang="zh-Hans">')
    for words in ("Fast-growing videos", "快速增长作品", "Missing videos", "missed earlier runs"):
        assert words in page


@pytest.mark.parametrize("is_demo", [True, False])
def test_demo_data_is_marked(is_demo: bool) -> None:
    assert ("演示数据" in render_digest(digest(is_demo=is_demo))) is is_demo
    assert digest(is_demo=is_demo)["is_demo_data"] is is_demo


def test_the_changes_of_a_track_that_two_links_name_count_once() -> None:
    before, after = seen(0, 10), seen(1, 9000)
    changes = find_changes(before, after, thresholds=DigestThresholds(velocity=1.0))
    again = replace(LOOK, position=1, entry=WatchlistEntry(kind="track", input="another link"))
    other = replace(again, position=2, subject="70002")
    checks = (LOOK, again, other)
    found = build_digest(
        RUN, [DigestEntry(one, after, changes) for one in checks], ended_at=MONDAY, is_demo=True
    )
    assert changes.count > 0
    assert found["change_count"] == 2 * changes.count
    assert found["completed_count"] == 3
