"""Accounts and their metrics from the sources: files, and works that are not read in time."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from api.services.reads.documents import TimeWindow
from api.services.reads.metrics import read_metrics
from api.services.reads.sources import Deadline
from sandbox.mock.provider import open_world
from sandbox.world.content.tables import VideoState
from tests.scripted_reads import ReadService, open_reads, until_over, without_end
from warehouse.records.errors import (
    ProviderUnsupportedError,
    SametrackError,
    VerificationDemandedError,
)

pytestmark = pytest.mark.full

VIDPLAT = "/api/v1/vidplat"
APP = f"{VIDPLAT}/app/v3"
WORLD = open_world(11, 0.1)
SEC = max(
    (WORLD.sec_uid(index) for index in range(WORLD.account_count)),
    key=lambda one: len(WORLD.videos_by_account(WORLD.account_of(one) or 0)),
)
WINDOW = TimeWindow(days=365, end=datetime.fromtimestamp(WORLD.now, UTC))


@pytest.fixture
def read_service(tmp_path: Path) -> Iterator[ReadService]:
    with open_reads(tmp_path) as read_service:
        yield read_service


def shown() -> list[Any]:
    """The public works of the account, newest first."""
    rows = WORLD.videos_by_account(WORLD.account_of(SEC) or 0)
    works = [WORLD.works.row(row) for row in rows]
    return sorted(
        (work for work in works if work.state is VideoState.PUBLIC),
        key=lambda work: -work.create_time,
    )


async def metrics(
    read_service: ReadService,
    *,
    count: int = 3,
    deadline: Deadline | None = None,
    window: TimeWindow = WINDOW,
) -> Any:
    answer = await read_metrics(
        read_service.sources, SEC, window=window, count=count, deadline=deadline or without_end()
    )
    return answer.document


async def test_metrics_are_of_the_newest_works(read_service: ReadService) -> None:
    likes = [work.digg_count for work in shown()[:3]]
    found = await metrics(read_service)
    assert (found["analyzed_count"], found["statistics_complete"]) == (3, True)
    assert found["average_digg_count"] == round(sum(likes) / 3, 2)
    assert found["top_video"]["statistics"]["digg_count"] == max(likes)
    assert found["top_video"]["author"]["sec_uid"] == SEC


async def test_details_that_were_read_not_long_ago_are_not_read_again(
    read_service: ReadService,
) -> None:
    first = await metrics(read_service)
    asked = len(read_service.script.asked)
    assert await metrics(read_service) == first
    again = {name for _, name, *_ in read_service.script.asked[asked:]}
    assert again.isdisjoint({work.aweme_id for work in shown()})


async def test_user_metrics_are_incomplete_if_a_video_is_not_read_in_time(
    read_service: ReadService,
) -> None:
    read_service.script.stalled.add(f"fetch_video {shown()[0].aweme_id}")
    found = await until_over(
        read_service.script, lambda deadline: metrics(read_service, deadline=deadline), stalled=1
    )
    assert found["statistics_complete"] is False
    assert found["coverage_complete"] is False


async def test_user_metrics_with_a_refused_video_are_incomplete(read_service: ReadService) -> None:
    error = VerificationDemandedError("no", surface="video_page")
    read_service.script.errors[f"fetch_video {shown()[0].aweme_id}"] = error
    found = await metrics(read_service)
    assert found["statistics_complete"] is False
    assert found["analyzed_count"] > 0


@pytest.fixture
def later_pages(
    read_service: ReadService, monkeypatch: pytest.MonkeyPatch
) -> Callable[[SametrackError], None]:
    """Let every page of posts after the first meet an error."""

    def meet_an_error(error: SametrackError) -> None:
        meet = read_service.script.meet

        async def meet_later(question: str, *about: Any) -> None:
            if question == "fetch_author_page" and about[1]:
                raise error
            await meet(question, *about)

        monkeypatch.setattr(read_service.script, "meet", meet_later)

    return meet_an_error


@pytest.mark.parametrize(
    ("error", "is_complete"),
    [
        (VerificationDemandedError("no", surface="user_posts"), False),
        # a source of first screens has no other page: that is no refusal
        (ProviderUnsupportedError("one page alone"), True),
    ],
)
async def test_the_first_page_counts_where_later_ones_cannot_be_read(
    read_service: ReadService, later_pages: Any, error: SametrackError, is_complete: bool
) -> None:
    later_pages(error)
    all_works = TimeWindow(days=3650, end=WINDOW.end)
    found = await metrics(read_service, count=100, window=all_works)
    assert 0 < found["analyzed_count"] < len(shown())
    assert found["statistics_complete"] is is_complete


async def test_user_metrics_raise_the_refusal_if_every_video_is_refused(
    read_service: ReadService,
) -> None:
    read_service.script.errors["fetch_video"] = VerificationDemandedError(
        "no", surface="video_page"
    )
    with pytest.raises(VerificationDemandedError):
        await metrics(read_service)


@pytest.fixture
def files(tmp_path: Path) -> Iterator[ReadService]:
    users, videos = tmp_path / "users.json", tmp_path / "videos.json"
    users.write_text(json.dumps([{"sec_uid": SEC, "nickname": "me", "follower_count": 3}]))
    videos.write_text(
        json.dumps([
            {
                "aweme_id": "7300000000000000001", "author": {"sec_uid": SEC},
                "music": {"id_str": "7300000000000000009"}, "create_time": 1_700_000_000,
                "hashtags": [{"ch_id": "7300000000000000007", "name": "tag"}],
            }
        ])
    )  # fmt: skip
    settings = {"data_provider": "file", "users_file": users, "videos_file": videos}
    with open_reads(tmp_path / "stores", **settings) as read_service:
        yield read_service


def test_files_answer_what_they_hold_and_say_what_they_cannot(files: ReadService) -> None:
    client = files.client()
    asked = {
        f"{VIDPLAT}/web/get_sec_user_id": {"url": SEC},
        f"{APP}/handler_user_profile": {"sec_user_id": SEC},
        f"{APP}/fetch_user_post_videos": {"sec_user_id": SEC},
        f"{APP}/fetch_user_metrics": {"sec_user_id": SEC},
        f"{APP}/fetch_music_video_list": {"music_id": "7300000000000000009"},
        f"{APP}/fetch_hashtag_video_list": {"ch_id": "7300000000000000007"},
    }
    answers = [client.get(path, params=given) for path, given in asked.items()]
    assert [answer.status_code for answer in answers] == [200] * 6
    for answer in answers:
        data = answer.json()["data"]
        assert (data["data_provider"], data["is_demo_data"]) == ("file", False)
    code = files.sources.profile.hosts.short[0]
    link = client.get(f"{VIDPLAT}/web/get_sec_user_id", params={"url": f"https://{code}/abcdef/"})
    assert (link.status_code, link.json()["data"]["error"]["type"]) == (
        501, "provider_unsupported",
    )  # fmt: skip
