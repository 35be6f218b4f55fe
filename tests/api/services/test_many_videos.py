"""Several works by id: from the store and from the source, with a reason for each that is not."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.services.reads.videos import read_videos
from sandbox.mock.provider import open_world
from sandbox.world.content.tables import SandboxVideo, VideoState
from tests.scripted_reads import ReadService, open_reads, until_over, without_end
from warehouse.records.errors import (
    PageWithoutDataError,
    ProviderUnsupportedError,
    VerificationDemandedError,
    WarehouseUnavailableError,
)

pytestmark = pytest.mark.full

NOBODY = "7999999999999999999"


@pytest.fixture
def read_service(tmp_path: Path) -> Iterator[ReadService]:
    with open_reads(tmp_path) as read_service:
        yield read_service


@pytest.fixture(scope="module")
def ids() -> list[str]:
    """Works of the invented world that are shown, and further below one that is not."""
    return [work.aweme_id for work in works(is_shown=True)]


def works(*, is_shown: bool) -> list[SandboxVideo]:
    found = open_world(11, 0.1).works
    rows = map(found.row, range(len(found.aweme_id)))
    return [work for work in rows if (work.state is VideoState.PUBLIC) is is_shown][:30]


async def read(read_service: ReadService, *ids: str) -> Any:
    return await read_videos(read_service.sources, ids, deadline=without_end())


async def test_works_stand_in_the_order_asked_with_four_counts(
    read_service: ReadService, ids: list[str]
) -> None:
    wanted = [ids[5], ids[2], ids[9]]
    found = await read(read_service, *wanted)
    assert [work["aweme_id"] for work in found["aweme_list"]] == wanted
    assert found["filter_list"] == []
    for work in found["aweme_list"]:
        assert None not in work["statistics"].values()
        assert work["statistics_complete"] is True
        assert work["statistics_source"]
    flags = ("thirdparty_called", "mobile_emulator_used", "signing_generated")
    assert [found[flag] for flag in flags] == [False] * 3


async def test_recently_read_videos_are_not_requested_again(
    read_service: ReadService, ids: list[str]
) -> None:
    first = await read(read_service, ids[0], ids[1])
    read_service.script.asked.clear()
    again = await read(read_service, ids[1], ids[0], ids[2])
    assert [asked[1] for asked in read_service.script.asked] == [ids[2]]
    assert again["aweme_list"][1] == first["aweme_list"][0]


async def test_old_videos_are_read_again_and_keep_first_observed_at(
    tmp_path: Path, ids: list[str]
) -> None:
    with open_reads(tmp_path, video_ttl=0) as read_service:
        first = (await read(read_service, ids[0]))["aweme_list"][0]
        again = (await read(read_service, ids[0]))["aweme_list"][0]
    assert len(read_service.script.asked) == 2
    assert again["first_observed_at"] == first["first_observed_at"]


async def test_a_request_is_one_commit_per_table(read_service: ReadService, ids: list[str]) -> None:
    before = {name: read_service.commits(name) for name in ("raw.videos", "raw.captures")}
    await read(read_service, *ids[:20])
    assert {name: read_service.commits(name) - count for name, count in before.items()} == {
        "raw.videos": 1, "raw.captures": 1,
    }  # fmt: skip


async def test_a_work_that_is_not_shown_is_filtered_with_the_platforms_word(
    read_service: ReadService, ids: list[str]
) -> None:
    withheld = works(is_shown=False)[0]
    found = await read(read_service, withheld.aweme_id, ids[0], NOBODY)
    assert [work["aweme_id"] for work in found["aweme_list"]] == [ids[0]]
    first, second = found["filter_list"]
    assert (first["aweme_id"], first["reason"]) == (withheld.aweme_id, "unavailable")
    assert first["filter_reason"]
    assert second["aweme_id"] == NOBODY


@pytest.mark.parametrize(("negative_ttl", "asked_count"), [(60, 1), (0, 2)])
async def test_a_work_that_is_not_shown_is_left_alone_for_a_while(
    tmp_path: Path, ids: list[str], negative_ttl: int, asked_count: int
) -> None:
    withheld = works(is_shown=False)[0].aweme_id
    with open_reads(tmp_path, negative_ttl=negative_ttl) as read_service:
        [first] = (await read(read_service, withheld, ids[0]))["filter_list"]
        [again] = (await read(read_service, withheld, ids[1]))["filter_list"]
        asked = [one[1] for one in read_service.script.asked]
    assert asked.count(withheld) == asked_count
    assert again["filter_reason"] == first["filter_reason"]


async def test_a_work_that_is_refused_is_filtered_under_the_type_of_the_error(
    read_service: ReadService, ids: list[str]
) -> None:
    read_service.script.errors = {
        f"fetch_video {ids[0]}": PageWithoutDataError("a shell", surface="video_page"),
        f"fetch_video {ids[2]}": VerificationDemandedError("a captcha", surface="video_page"),
    }
    found = await read(read_service, *ids[:3])
    assert [entry["reason"] for entry in found["filter_list"]] == [
        "upstream_page_without_data", "upstream_verification",
    ]  # fmt: skip
    assert [work["aweme_id"] for work in found["aweme_list"]] == [ids[1]]
    assert {"filter_reason", "notice", "detail_msg"} < found["filter_list"][0].keys()


async def test_videos_past_the_deadline_are_filtered_and_the_others_stored(
    read_service: ReadService, ids: list[str]
) -> None:
    read_service.script.stalled = {f"fetch_video {ids[1]}"}
    found = await until_over(
        read_service.script,
        lambda deadline: read_videos(read_service.sources, ids[:3], deadline=deadline),
        stalled=1,
    )
    assert [entry["reason"] for entry in found["filter_list"]] == ["deadline"]
    assert len(found["aweme_list"]) == 2
    assert len(read_service.rows("select * from seen.videos")) == 2


async def test_a_source_that_reads_no_works_fails_the_request(
    read_service: ReadService, ids: list[str]
) -> None:
    read_service.script.errors = {"fetch_video": ProviderUnsupportedError("no works here")}
    with pytest.raises(ProviderUnsupportedError):
        await read(read_service, ids[0])


async def test_a_store_that_cannot_be_used_fails_the_request(
    read_service: ReadService, ids: list[str]
) -> None:
    read_service.script.errors = {"fetch_video": WarehouseUnavailableError("no room")}
    with pytest.raises(WarehouseUnavailableError):
        await read(read_service, ids[0])


async def test_an_old_observation_never_stands_in_for_a_refused_read(
    tmp_path: Path, ids: list[str]
) -> None:
    with open_reads(tmp_path, video_ttl=0) as read_service:
        await read(read_service, ids[0])
        read_service.script.errors = {
            "fetch_video": PageWithoutDataError("a shell", surface="video_page")
        }
        found = await read(read_service, ids[0])
    assert found["aweme_list"] == []
    assert found["filter_list"][0]["reason"] == "upstream_page_without_data"
