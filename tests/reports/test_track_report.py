"""The page of a track as a file: one safe page with gaps, bands and what is unknown."""

import base64
import hashlib
import re
from collections.abc import Sequence
from typing import Any

import pytest

from api.services.report.track_report import render_track_report
from tests.reports.test_report_page import HOSTILE, Page

MUSIC_ID = "7300000000000000001"


def count(day: int, use_count: int, step: int | None = None) -> dict[str, Any]:
    return {
        "day": f"2026-03-{day:02}", "use_count": use_count, "use_count_exact": step is None,
        "use_count_step": step, "range": step and [use_count - step // 2, use_count + step],
        "use_count_observed_at": f"2026-03-{day:02}T06:00:00Z", "previous_date": None,
        "uses_gained": None,
    }  # fmt: skip


def sounds(*music_ids: str, use_count: int | None = None) -> dict[str, Any]:
    rows = [
        {
            "music_id": music_id, "title": None, "artist": None, "confirmed_video_count": 1,
            "use_count": use_count, "use_count_step": None,
        }
        for music_id in music_ids
    ]  # fmt: skip
    return {
        "music_ids": rows, "music_id_count": len(rows), "use_count": use_count,
        "counted_music_id_count": 0 if use_count is None else len(rows),
    }  # fmt: skip


def creator(name: str) -> dict[str, Any]:
    return {
        "sec_uid": "MS4wLjABAAAAann", "nickname": name, "unique_id": None, "follower_count": 700,
        "digg_count": None, "first_created_at": "2026-03-01T09:00:00Z",
    }  # fmt: skip


def scan(number: int, **changed: Any) -> dict[str, Any]:
    names = ("new_video", "gone_video", "new_music_id", "risen_video", "fallen_video")
    return {
        "job_id": f"job-{number}", "previous_job_id": f"job-{number - 1}" if changed else None,
        "concluded_at": "2026-03-05T09:30:00Z", "has_result": True, "confirmed_video_count": 2,
        "music_id_count": 1, "digg_count": 30,
        **{f"{name}_count": 0 if changed else None for name in names}, **changed,
    }  # fmt: skip


def track_of(
    counts: Sequence[dict[str, Any]] = (), *, text: str = "plain", **changed: Any
) -> dict[str, Any]:
    return {
        "music_id": MUSIC_ID, "title": text, "artist": text,
        "music_ids": {"official": sounds(MUSIC_ID, use_count=900), "user_made": sounds("73000002"),
                      "unknown": sounds()},
        "use_count": 900, "use_count_exact": True, "uncounted_music_id_count": 1,
        "usage": {"points": list(counts), "returned_count": len(counts)},
        "videos": [{"day": "2026-03-01", "observed_video_count": 3, "confirmed_video_count": 2}],
        "scans": [scan(2, new_video_count=1, fallen_video_count=2), scan(1)],
        "account_count": 1, "first_creators": [creator(text)], "biggest_creators": [creator(text)],
        "regions": [{"ip_location": text, "account_count": 1},
                    {"ip_location": None, "account_count": 4}],
        "variants": {"count": 1, "by_kind": {"speed": 1},
                     "videos": [{"aweme_id": "7400000000000000003", "kind": "speed", "desc": text,
                                 "digg_count": 5}]},
        "note": {"note": "for our eyes only"}, "is_demo_data": True, **changed,
    }  # fmt: skip


def render(track: Any, language: str = "en") -> str:
    return render_track_report(track, language=language)


def paths(page: str, kind: str) -> list[str]:
    return [
        path["d"] or ""
        for path in Page(page).of("path")
        if (path["class"] or "").startswith(f"{kind} series-1")
    ]


@pytest.mark.parametrize("text", ["plain", HOSTILE])
def test_the_page_loads_nothing_links_to_nothing_and_runs_nothing(text: str) -> None:
    page = Page(render(track_of([count(1, 900)], text=text)))
    calm = Page(render(track_of([count(1, 900)], text="calm")))
    assert [name for name, _ in page.elements] == [name for name, _ in calm.elements]
    assert not {"a", "link", "img", "script", "iframe", "form"} & {
        name for name, _ in page.elements
    }
    for _, attributes in page.elements:
        assert not {"src", "href", "style"} & attributes.keys()
        assert not any(name.startswith("on") for name in attributes)


def test_the_policy_allows_the_style_sheet_alone() -> None:
    text = render(track_of())
    style = re.search(r"<style>(.*)</style>", text, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    (policy,) = (meta["content"] for meta in Page(text).of("meta") if "http-equiv" in meta)
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


def test_days_without_a_count_are_a_gap_and_rounded_counts_have_a_band() -> None:
    steps = (None, None, None, 1000, 1000, 1000)
    days = (1, 2, 3, 20, 21, 22)
    counts = [count(day, 998_000 + 900 * day, step) for day, step in zip(days, steps, strict=True)]
    page = render(track_of(counts, videos=[]))
    assert [path.count("L") for path in paths(page, "line")] == [2, 2]
    assert len(paths(page, "band")) == 1
    assert paths(page, "range") == []


def test_a_rounded_count_on_its_own_has_its_range_as_a_bar() -> None:
    page = render(track_of([count(1, 1_200_000, 10_000)], videos=[]))
    assert (len(paths(page, "band")), len(paths(page, "range"))) == (0, 1)


def test_a_page_names_no_job_and_has_no_note() -> None:
    text = render(track_of())
    assert "job-1" not in text
    assert "for our eyes only" not in text


def test_scans_say_what_changed() -> None:
    text = render(track_of())
    assert "1 new, 2 ranked lower" in text
    assert "新增 1 个，2 个排名下降" in text
    assert "first scan" in text


def test_what_is_unknown_is_called_unknown() -> None:
    text = render(track_of())
    assert '<span lang="en">Unknown</span>' in text
    assert "1 music id has no count" in text
    assert "The platform has not shown its count for this track yet." in text
    assert '<td class="figure">—</td>' in text


def test_demo_data_is_marked_and_other_data_is_not() -> None:
    assert "demo data, generated on this machine" in render(track_of())
    assert "demo data" not in render(track_of(is_demo_data=False))


@pytest.mark.parametrize(("language", "shown"), [("en", "en"), ("zh", "zh-Hans")])
def test_the_page_has_both_languages_and_shows_one_first(language: str, shown: str) -> None:
    text = render(track_of([count(1, 900)]), language)
    assert f'<html lang="{shown}">' in text
    for words in ("First creators", "最早的创作者", "Limits of this data", "数据局限"):
        assert words in text


def test_the_page_says_the_time_of_its_data() -> None:
    text = render(track_of([count(1, 900)]))
    assert "2026-03-01 06:00 UTC" in text
    assert "2026-03-05 09:30 UTC" in text


def test_a_track_without_a_title_has_its_id_as_heading() -> None:
    assert f"<h1>{MUSIC_ID}</h1>" in render(track_of(title=None))
