"""The plots of a result: their points, and the sentence with the finding of each."""

from typing import Any

from pipelines.documents.result_plots import ResultPlots, build_plots

DAY_S = 86_400
START_S = 1_760_000_000  # 2025-10-09


def video(
    number: int, *, likes: int | None, day: int | None, link: str = "exact_music_id"
) -> dict[str, Any]:
    return {
        "aweme_id": f"73{number:017}",
        "create_time": None if day is None else START_S + day * DAY_S,
        "statistics": {"digg_count": likes},
        "author": {"nickname": f"n{number}"},
        "link_type": link,
    }


def account(likes: int | None) -> dict[str, Any]:
    return {"linked_digg_count": likes}


def plots_of(videos: list[Any], accounts: list[Any] | None = None, **more: Any) -> ResultPlots:
    given = {"confirmed_count": len(videos), "viral_threshold": 10_000, **more}
    return build_plots(videos, accounts or [], **given)


def test_videos_and_likes_rise_in_the_order_of_publication() -> None:
    videos = [
        video(1, likes=5, day=4),
        video(2, likes=900, day=0),
        video(3, likes=20, day=2),
        video(4, likes=5, day=9),
    ]
    plot = plots_of(videos)["publication"]
    sums = [(point["video_count"], point["digg_count"]) for point in plot["points"]]
    assert sums == [(1, 900), (2, 920), (3, 925), (4, 930)]
    assert plot["title"] == (
        "Half of the 4 videos were out by 11 Oct 2025; those out by 9 Oct 2025 hold half of the "
        "likes"
    )
    assert "930" in plot["alternative"]
    assert "930" in plot["alternative_zh"]


def test_what_is_unknown_is_left_out_and_counted() -> None:
    videos = [video(1, likes=None, day=0), video(2, likes=7, day=None), video(3, likes=3, day=1)]
    plots = plots_of(videos)
    publication, likes = plots["publication"], plots["likes"]
    assert [point["digg_count"] for point in publication["points"]] == [0, 3]
    assert "without a known publication time: 1 video" in publication["note"]
    assert "likes of 1 video are unknown" in publication["note"]
    assert [point["digg_count"] for point in likes["points"]] == [3]
    assert "2 videos" in likes["note"]


def test_a_part_of_the_confirmed_videos_says_so() -> None:
    plots = plots_of([video(1, likes=3, day=1)], confirmed_count=9)
    assert "Of 9 confirmed videos, the 1 ranked ones are drawn." in plots["likes"]["note"]


def test_the_finding_of_the_likes_names_the_first_viral_video_or_the_most_liked() -> None:
    videos = [
        video(1, likes=20_000, day=5),
        video(2, likes=12_000, day=3),
        video(3, likes=0, day=0),
    ]
    found = plots_of(videos)["likes"]
    assert found["title"] == (
        "2 of 3 videos reached 10,000 likes; the first of them is from 12 Oct 2025"
    )
    calm = plots_of(videos, viral_threshold=50_000)["likes"]
    assert calm["title"] == "No video reached 50,000 likes; the most liked has 20,000"
    assert [point["is_labelled"] for point in found["points"]] == [True, True, True]


def test_the_fewest_creators_with_half_of_the_likes_are_marked() -> None:
    accounts = [account(likes) for likes in (10, 70, 20, None)]
    plot = plots_of([], accounts)["creators"]
    assert [round(point["digg_share"], 2) for point in plot["points"]] == [0.7, 0.9, 1.0]
    assert (plot["half_count"], plot["mark"]) == (1, "1 creator: 70 %")
    assert plot["title"] == "1 of 3 creators holds 70 % of the likes"
    assert "Creators without known likes: 1, not drawn." in plot["note"]


def test_links_say_how_many_videos_use_another_music_id() -> None:
    videos = [
        video(1, likes=1, day=0),
        video(2, likes=1, day=0, link="audio_fingerprint_match"),
    ]
    plot = plots_of(videos)["links"]
    assert plot["title"] == "1 of 2 videos carry the recording under another music id"
    assert {point["link_type"]: point["video_count"] for point in plot["points"]} == {
        "exact_music_id": 1,
        "audio_fingerprint_match": 1,
    }


def test_a_result_without_videos_has_plots_without_points() -> None:
    plots = plots_of([])
    assert [len(plot["points"]) for plot in plots.values()] == [0, 0, 0, 0]  # type: ignore[index]  # each is a plot
    assert plots["publication"]["alternative"] == "No publication time is known."
