"""Trends over the real sandbox: links with the id of a trend, and pages that cross processes."""

from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from api.services.reads.lists import ListPageRequest, music_list_source
from api.services.reads.sources import Deadline, Sources
from api.settings import ApiSettings
from tests.platform.sandbox_platform import PATIENCE_S, Sandbox, Start, Stores
from warehouse.records.errors import InvalidParameterError, SametrackError

pytestmark = pytest.mark.full


@pytest.fixture
def link(track: dict[str, Any]) -> str:
    """The link of the trend around the first track, without the music id."""
    whole: str = track["trends_link"]
    return whole.partition("&music_id=")[0]


async def test_the_link_of_a_trend_leads_to_the_music_of_its_videos(
    link: str, start: Start, track: dict[str, Any]
) -> None:
    async with start() as captures:
        assert await captures.resolve(f"look at {link}") == track["music_id"]
    async with start() as captures:
        assert await captures.resolve(link) == track["music_id"]
        assert captures.requests_used == 0


@pytest.mark.parametrize(
    ("kind", "type_"), [("403", "upstream_forbidden"), ("empty", "upstream_empty")]
)
async def test_a_trend_that_the_platform_withholds_is_refused_by_name(
    kind: str, type_: str, link: str, start: Start, faults: Callable[..., Any]
) -> None:
    faults(surface="trends_list", kind=kind, times=0)
    async with start() as captures:
        with pytest.raises(SametrackError) as refused:
            await captures.resolve(link)
    assert refused.value.type == type_


def sources_of(sandbox: Sandbox, stores: Stores, folder: Path) -> Sources:
    """The sources of another service process over the same stores."""
    return Sources(
        settings=ApiSettings(_env_file=None, profile="sandbox", sandbox_port=sandbox.port),
        profile=sandbox.profile,
        engine=stores.engine,
        control=stores.control,
        sounds_dir=folder,
    )


async def page_of(sources: Sources, music_id: str, cursor: int) -> Any:
    now = datetime.now(UTC)
    return await music_list_source(sources, music_id, now=now).read(
        ListPageRequest(cursor=cursor, count=2, order="public"),
        now=now,
        deadline=Deadline(PATIENCE_S),
    )


async def test_a_page_cursor_of_a_trend_goes_on_in_another_process(
    sandbox: Sandbox,
    tmp_path: Path,
    track: dict[str, Any],
    faults: Callable[..., Any],
) -> None:
    faults(surface="music_list", kind="403", times=0)
    stores = Stores(tmp_path)
    with closing(stores.engine), closing(stores.control):
        sources = sources_of(sandbox, stores, tmp_path)
        first = (await page_of(sources, track["music_id"], 0)).document
        assert stores.rows("select distinct surface from raw.captures where outcome = 'ok'") == [
            {"surface": "trends_list"}
        ]
    others = Stores(tmp_path)
    with closing(others.engine), closing(others.control):
        other = sources_of(sandbox, others, tmp_path)
        then = (await page_of(other, track["music_id"], first["cursor"])).document
        with pytest.raises(InvalidParameterError, match="`cursor` belongs to no capture"):
            await page_of(other, track["music_id"], first["cursor"] + (1 << 40))
    before = {video["aweme_id"] for video in first["aweme_list"]}
    after = {video["aweme_id"] for video in then["aweme_list"]}
    assert (len(before), len(after), before & after) == (2, 2, set())
