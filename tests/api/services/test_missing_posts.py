"""Posts and metrics of accounts whose posts are refused, are none, or are gone from the store."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from api.services.reads import posts
from api.services.reads.documents import TimeWindow
from api.services.reads.lists import ListPageRequest, ListSource
from api.services.reads.metrics import read_metrics
from api.services.reads.posts import read_posts
from api.services.reads.users import read_user
from pipelines.platform.sources.table import Reading, SourceRequest
from sandbox.mock.provider import MockProvider, open_world
from sandbox.mock.records import to_post
from sandbox.world.content.tables import VideoState
from tests.scripted_reads import ReadService, ScriptedSources, open_reads, without_end
from warehouse.records.errors import (
    ForbiddenError,
    InvalidParameterError,
    UnresolvedIdError,
    VerificationDemandedError,
    WarehouseUnavailableError,
)
from warehouse.records.videos import Account, VideoPage

pytestmark = pytest.mark.full

WORLD = open_world(11, 0.1)
NOW = datetime.fromtimestamp(WORLD.now, UTC)
ALL_TIME = TimeWindow(days=3650, end=NOW)
REFUSED = VerificationDemandedError("no", surface="user_posts")
PAGE = "fetch_author_page"


def public_count(sec_uid: str) -> int:
    rows = WORLD.videos_by_account(WORLD.account_of(sec_uid) or 0)
    return sum(WORLD.works.row(row).state is VideoState.PUBLIC for row in rows)


COUNTS = {sec_uid: public_count(sec_uid) for sec_uid in map(WORLD.sec_uid, range(30))}
FEW = min(COUNTS, key=COUNTS.__getitem__)


@pytest.fixture
def read_service(tmp_path: Path) -> Iterator[ReadService]:
    with open_reads(tmp_path) as read_service:
        yield read_service


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> str:
    """An account that the platform shows no posts of."""

    async def show_none(provider: MockProvider, sec_uid: str, cursor: int) -> Reading[VideoPage]:
        request = SourceRequest(entity_id=sec_uid, cursor=cursor)
        return provider._page("user_posts", request, [], to_post)

    monkeypatch.setattr(MockProvider, PAGE, show_none)
    return FEW


async def metrics(read_service: ReadService, sec_uid: str) -> Any:
    answer = await read_metrics(
        read_service.sources, sec_uid, window=ALL_TIME, count=100, deadline=without_end()
    )
    return answer.document


async def page(read_service: ReadService, sec_uid: str, *, now: datetime = NOW) -> Any:
    wanted = ListPageRequest(cursor=0, count=3, order="public")
    answer = await read_posts(
        read_service.sources, sec_uid, wanted, now=now, deadline=without_end()
    )
    return answer.document


async def test_metrics_without_the_first_page_are_an_error(read_service: ReadService) -> None:
    read_service.script.errors[PAGE] = REFUSED
    with pytest.raises(VerificationDemandedError):
        await metrics(read_service, FEW)


async def test_metrics_of_an_account_with_few_posts_are_of_all_of_them(
    read_service: ReadService,
) -> None:
    found = await metrics(read_service, FEW)
    assert (found["analyzed_count"], found["statistics_complete"]) == (COUNTS[FEW], True)
    assert [one[0] for one in read_service.script.asked].count(PAGE) == 1


async def test_metrics_of_an_account_without_posts_have_no_average(
    read_service: ReadService, silent: str
) -> None:
    found = await metrics(read_service, silent)
    assert (found["analyzed_count"], found["average_digg_count"]) == (0, None)


async def test_a_page_that_cannot_be_read_back_is_an_error_of_the_store(
    read_service: ReadService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posts, "read_captured_page", lambda *_, **__: None)
    with pytest.raises(WarehouseUnavailableError, match="could not be loaded"):
        await page(read_service, FEW)


async def test_a_page_whose_list_is_gone_is_an_unknown_cursor(
    read_service: ReadService, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing(*_: object) -> None:
        return None

    monkeypatch.setattr(ListSource, "read_page", nothing)
    with pytest.raises(InvalidParameterError, match="max_cursor"):
        await page(read_service, FEW)


@pytest.mark.parametrize("is_local", [False, True], ids=["platform-cursor", "local-cursor"])
async def test_an_account_without_posts_is_there_and_one_that_is_not_is_refused(
    read_service: ReadService, silent: str, monkeypatch: pytest.MonkeyPatch, is_local: bool
) -> None:
    monkeypatch.setattr(ScriptedSources, "pages_posts_locally", is_local)
    found = await page(read_service, silent)
    assert (found["aweme_list"], bool(found["has_more"])) == ([], False)
    assert [one[0] for one in read_service.script.asked] == [PAGE, "fetch_account"]
    with pytest.raises(UnresolvedIdError):
        await page(read_service, "MS4wLjABAAAA" + "0" * 43)


async def test_an_account_whose_profile_is_known_is_not_looked_up_again(
    read_service: ReadService, silent: str
) -> None:
    await read_user(read_service.sources, silent, now=NOW, deadline=without_end())
    [row] = read_service.rows("select observed_at from seen.accounts")
    read_service.script.asked.clear()
    assert (await page(read_service, silent, now=row["observed_at"]))["aweme_list"] == []
    assert [one[0] for one in read_service.script.asked] == [PAGE]


@pytest.mark.parametrize("is_local", [False, True], ids=["platform-cursor", "local-cursor"])
async def test_a_profile_read_from_its_page_is_no_page_of_posts(
    read_service: ReadService, monkeypatch: pytest.MonkeyPatch, is_local: bool
) -> None:
    fetch_account = MockProvider.fetch_account

    async def from_page(provider: MockProvider, sec_uid: str) -> Reading[Account]:
        return replace(await fetch_account(provider, sec_uid), surface="user_page")

    monkeypatch.setattr(MockProvider, "fetch_account", from_page)
    monkeypatch.setattr(ScriptedSources, "pages_posts_locally", is_local)
    await read_user(read_service.sources, FEW, now=NOW, deadline=without_end())
    [row] = read_service.rows("select surface, observed_at from raw.captures")
    assert row["surface"] == "user_page"
    found = await page(read_service, FEW, now=row["observed_at"])
    assert len(found["aweme_list"]) == min(3, COUNTS[FEW])
    assert (await metrics(read_service, FEW))["analyzed_count"] == COUNTS[FEW]


async def test_a_profile_that_is_refused_does_not_refuse_an_account_without_posts(
    read_service: ReadService, silent: str
) -> None:
    read_service.script.errors["fetch_account"] = ForbiddenError("no", surface="user_info")
    assert (await page(read_service, silent))["aweme_list"] == []


async def test_refused_posts_are_an_error_with_a_local_cursor_too(
    read_service: ReadService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ScriptedSources, "pages_posts_locally", True)
    read_service.script.errors[PAGE] = REFUSED
    with pytest.raises(VerificationDemandedError):
        await page(read_service, FEW)
