"""The plots of a track: a point for each day with an observation, and the finding of each."""

from typing import Any

from pipelines.documents.track_plots import DayPoint, build_track_plots


def point(day: str, count: int, *, step: int | None = None) -> dict[str, Any]:
    return {
        "day": day, "use_count": count, "use_count_exact": step is None, "use_count_step": step,
        "range": step and [count - step // 2, count + step],
    }  # fmt: skip


def track_of(*points: dict[str, Any], videos: tuple[Any, ...] = ()) -> dict[str, Any]:
    return {"usage": {"points": list(points)}, "videos": list(videos)}


def usage_title(*points: dict[str, Any]) -> tuple[str, str]:
    usage = build_track_plots(track_of(*points)).usage
    assert usage is not None
    return usage.messages["title"], usage.messages["title_zh"]


def test_a_rounded_count_has_its_range_and_days_without_a_count_have_no_point() -> None:
    track = track_of(point("2026-11-02", 998_400), point("2026-11-05", 1_002_000, step=1000))
    usage = build_track_plots(track).usage
    assert usage is not None
    assert usage.lines[0].points == [
        DayPoint("2026-11-02", 998_400),
        DayPoint("2026-11-05", 1_002_000, (1_001_500, 1_003_000)),
    ]
    assert usage.days == ["2026-11-02", "2026-11-05"]
    assert "the band shows where the true count lies" in usage.messages["note"]
    assert usage.messages["alternative"] == (
        "2 counts, from 998,400 on 2026-11-02 to about 1,002,000 on 2026-11-05."
    )
    assert usage.messages["alternative_zh"] == (
        "共 2 个观测值：2026-11-02 为 998,400，2026-11-05 约为 1,002,000。"
    )


def test_the_finding_is_the_newest_count_and_what_it_gained() -> None:
    assert usage_title(point("2026-11-02", 900), point("2026-11-05", 1200)) == (
        "The platform counts 1,200 videos, 300 more than on 2026-11-02",
        "平台使用量为 1,200，较 2026-11-02 增加 300",
    )
    assert usage_title(point("2026-11-02", 900), point("2026-11-05", 890)) == (
        "The platform counts 890 videos, 10 fewer than on 2026-11-02",
        "平台使用量为 890，较 2026-11-02 减少 10",
    )
    assert usage_title(point("2026-11-02", 900), point("2026-11-05", 900)) == (
        "The platform counts 900 videos, as many as on 2026-11-02",
        "平台使用量为 900，与 2026-11-02 持平",
    )


def test_the_finding_of_rounded_counts_is_called_an_estimate() -> None:
    early = point("2026-11-02", 1_200_000, step=100_000)
    assert usage_title(early, point("2026-11-05", 1_500_000, step=100_000)) == (
        "The platform counts about 1,500,000 videos, about 300,000 more than on 2026-11-02",
        "平台使用量约为 1,500,000，较 2026-11-02 增加约 300,000",
    )
    # Within one step nobody knows whether it rose.
    assert usage_title(early, point("2026-11-05", 1_300_000, step=100_000)) == (
        "The platform counts about 1,300,000 videos, about as many as on 2026-11-02",
        "平台使用量约为 1,300,000，与 2026-11-02 基本持平",
    )


def test_a_single_count_says_its_day_and_no_change() -> None:
    assert usage_title(point("2026-11-02", 900)) == (
        "On 2026-11-02 the platform counted 900 videos",
        "2026-11-02 平台使用量为 900",
    )


def test_our_videos_are_two_lines() -> None:
    days = ({"day": "2026-11-02", "observed_video_count": 3, "confirmed_video_count": 1},)
    videos = build_track_plots(track_of(videos=days)).videos
    assert videos is not None
    assert [line.points for line in videos.lines] == [
        [DayPoint("2026-11-02", 3)],
        [DayPoint("2026-11-02", 1)],
    ]
    assert videos.messages["title"] == "Scans have seen 3 videos and confirmed 1 of them"


def test_nothing_observed_is_no_plot() -> None:
    assert build_track_plots(track_of()) == (None, None)
