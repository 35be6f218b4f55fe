"""Demo data in place of what the public source refuses: shown as such, kept nowhere."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipelines.captures.session import Captures
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers import build_provider
from pipelines.platform.providers.provider import ProviderDependencies
from pipelines.settings import Settings
from tests.platform.sandbox_platform import PATIENT
from warehouse.control import ControlStore, open_control
from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.store import open_lake
from warehouse.records.errors import ForbiddenError, UnresolvedIdError
from warehouse.records.search import SearchPosition

pytestmark = pytest.mark.full

SEC = "MS4wLjABAAAAq7Rk2dV0xYt3mH8sLw5uZc1nPfJb4eGo6aTi9yWvKrE"
INFO, POSTS = "/web/api/v2/user/info/", "/web/api/v2/aweme/post/"
ACCOUNT_PAGE = f"/share/user/{SEC}"
REFUSED = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno"
NO_ROBOTS = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
UNKNOWN_BODY = b'{"status_code": 5, "user_info": null}'
UNKNOWN = b"HTTP/1.1 200 OK\r\nContent-Length: 37\r\nConnection: close\r\n\r\n" + UNKNOWN_BODY
LIMITS = replace(PATIENT, attempts=1)


@pytest.fixture
def control(tmp_path: Path) -> Iterator[ControlStore]:
    with closing(open_control(f"sqlite:///{tmp_path / 'c.sqlite'}", world="sandbox")) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _no_robots(scripted_server: Any) -> None:
    scripted_server.answers["/robots.txt"] = [NO_ROBOTS]


@pytest.fixture
def source(tmp_path: Path, scripted_profile: PlatformProfile, control: ControlStore) -> Any:
    settings = Settings(
        _env_file=None, public_fallback_to_mock=True, mock_size=0.1, data_home=tmp_path / "home"
    )
    return build_provider(
        settings.data_provider,
        ProviderDependencies(
            settings=settings,
            profile=scripted_profile,
            control=control,
            limits=LIMITS,
            for_user=True,
        ),
    )


async def test_a_refusal_is_answered_by_the_demo_world_under_its_own_ids(
    scripted_server: Any, source: Any
) -> None:
    scripted_server.answers |= {INFO: [REFUSED], ACCOUNT_PAGE: [REFUSED]}
    found = await source.fetch_account(SEC)
    again = await source.fetch_account(SEC)
    await source.aclose()
    assert isinstance(found.instead_of, ForbiddenError)
    assert found.entity_id == SEC
    assert found.value.sec_uid == again.value.sec_uid != SEC
    assert found.value.nickname


async def test_every_question_can_be_stood_in_for(scripted_server: Any, source: Any) -> None:
    refusing = ("/web/api/v2/music/info/", "/web/api/v2/music/list/aweme/", INFO, POSTS,
                "/aweme/v1/trends/aweme/", ACCOUNT_PAGE, "/web/api/v2/aweme/slidesinfo/",
                "/share/video/12345/", "/web/api/v2/challenge/info/",
                "/web/api/v2/challenge/aweme/", "/aweme/v1/web/general/search/stream/")  # fmt: skip
    scripted_server.answers.update({path: [REFUSED] for path in refusing})
    readings = [
        await source.fetch_track("12345"),
        await source.fetch_music_page("12345", 0),
        await source.fetch_author_page(SEC, 0),
        await source.fetch_video("12345"),
        await source.fetch_hashtag("12345"),
        await source.fetch_hashtag_page("12345", 0),
        await source.fetch_search_page("#", SearchPosition()),
    ]
    await source.aclose()
    assert all(isinstance(reading.instead_of, ForbiddenError) for reading in readings)


async def test_demo_fallback_does_not_hide_an_unresolved_id(
    scripted_server: Any, source: Any
) -> None:
    scripted_server.answers[INFO] = [UNKNOWN]
    with pytest.raises(UnresolvedIdError):
        await source.fetch_account(SEC)
    await source.aclose()


async def test_demo_fallback_data_is_not_stored(
    scripted_server: Any, source: Any, control: ControlStore, tmp_path: Path
) -> None:
    """The row says what the source really answered."""
    scripted_server.answers |= {path: [REFUSED] for path in (INFO, POSTS, ACCOUNT_PAGE)}
    lake = open_lake(str(tmp_path / "lake"), world="sandbox")
    with closing(Engine(lake)) as engine:
        captures = Captures(
            provider=source, lake=lake, engine=engine, control=control, sounds_dir=tmp_path / "s"
        )
        async with captures:
            assert captures.fallback_count == 0
            account = await captures.account(SEC)
            walk = await captures.walk_user_posts(SEC)
            assert captures.fallback_count
        engine.refresh()
        outcomes = engine.rows("select outcome, data_provider, item_count from raw.captures")
        tables = ("raw.accounts", "raw.videos", "raw.capture_items")
        kept = [row for table in tables for row in engine.rows(f"select * from {table}")]
    assert account.nickname
    assert walk.videos
    assert {row["outcome"] for row in outcomes} == {"upstream_forbidden"}
    assert {row["data_provider"] for row in outcomes} == {"vidplat-public"}
    assert kept == []
