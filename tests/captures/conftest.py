"""Stores of one test, and sources that answer from a script."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from pipelines.captures.chart import ChartCaptures
from pipelines.captures.session import Captures
from pipelines.platform.call_trace import current_trace
from pipelines.platform.parsers.links import LinkTarget
from pipelines.platform.providers.provider import Provider
from pipelines.platform.sources.table import PARSER_VERSION, Reading
from warehouse.control import open_control
from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.store import open_lake
from warehouse.records.charts import ChartIndex, ChartIssue, ChartPage, ChartSong
from warehouse.records.errors import SametrackError
from warehouse.records.search import SearchPage, SearchPosition
from warehouse.records.videos import (
    Account,
    Author,
    HashtagInfo,
    SoundAddresses,
    Statistics,
    Track,
    Video,
    VideoPage,
)


class Stores:
    """Lake, engine and control store of one test."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.lake = open_lake(str(root / "lake"), world="sandbox")
        self.control_url = f"sqlite:///{root / 'control.sqlite'}"
        self.control = open_control(self.control_url, world="sandbox")
        self.engine = Engine(self.lake)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        self.engine.refresh()
        return self.engine.rows(sql)


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Stores]:
    stores = Stores(tmp_path)
    yield stores
    stores.engine.close()
    stores.control.close()


def video(aweme_id: str, surface: str = "music_list") -> Video:
    return Video(
        aweme_id=aweme_id,
        surface=surface,
        observed_at=datetime.now(UTC),
        author=Author(sec_uid="sec"),
        statistics=Statistics(digg_count=1, comment_count=2, collect_count=3, share_count=4),
    )


@dataclass
class Source(Provider):
    """A source of everything. `asked` are its questions, `arrivals` one each; each waits for
    `gate`, where one is set, and raises `error`, where one is set.
    """

    name: str = "vidplat-public"
    asked: list[tuple[object, ...]] = field(default_factory=list)
    arrivals: "asyncio.Queue[str]" = field(default_factory=asyncio.Queue)
    gate: asyncio.Event | None = None
    error: SametrackError | None = None
    search_pages: list[SearchPage | SametrackError] = field(default_factory=list)
    targets: dict[str, LinkTarget] = field(default_factory=dict)
    list_surface: str = "music_list"
    resumed: list[tuple[str, str]] = field(default_factory=list)

    def find_target(self, text: str) -> LinkTarget | None:
        return next((target for link, target in self.targets.items() if link in text), None)

    async def fetch_track(self, music_id: str) -> Reading[Track]:
        track = Track(music_id=music_id, surface="music_info", observed_at=datetime.now(UTC))
        return await self._read("music_info", music_id, track)

    async def fetch_account(self, sec_uid: str) -> Reading[Account]:
        account = Account(sec_uid=sec_uid, surface="user_info", observed_at=datetime.now(UTC))
        return await self._read("user_info", sec_uid, account)

    async def fetch_account_by_handle(self, handle: str) -> Reading[Account]:
        account = Account(
            sec_uid=f"sec of {handle}", surface="user_by_handle", observed_at=datetime.now(UTC),
            unique_id=handle.removeprefix("@"),
        )  # fmt: skip
        return await self._read("user_by_handle", handle, account)

    async def fetch_hashtag(self, ch_id: str) -> Reading[HashtagInfo]:
        found = HashtagInfo(
            ch_id=ch_id, surface="hashtag_info", observed_at=datetime.now(UTC), view_count=7
        )
        return await self._read("hashtag_info", ch_id, found)

    async def fetch_video(self, aweme_id: str) -> Reading[Any]:
        detail = replace(video(aweme_id, "video_page"), sound=SoundAddresses(urls=("http://x/",)))
        return await self._read("video_page", aweme_id, detail)

    async def fetch_music_page(self, music_id: str, cursor: int) -> Reading[VideoPage]:
        return await self._page(self.list_surface, music_id, cursor)

    async def fetch_author_page(self, sec_uid: str, cursor: int) -> Reading[VideoPage]:
        return await self._page("user_posts", sec_uid, cursor)

    async def fetch_hashtag_page(self, ch_id: str, cursor: int) -> Reading[VideoPage]:
        return await self._page("hashtag_list", ch_id, cursor)

    async def fetch_trend(self, trends_id: str, cursor: int) -> Reading[VideoPage]:
        return await self._page("trends_list", trends_id, cursor)

    def resume_walk(self, surface: str, entity_id: str) -> None:
        self.resumed.append((surface, entity_id))

    async def fetch_search_page(self, term: str, place: SearchPosition) -> Reading[SearchPage]:
        page = self.search_pages.pop(0)
        if isinstance(page, SametrackError):
            current_trace().request_count += 1
            raise page
        surface = "search_stream" if place == SearchPosition() else "search_single"
        return await self._read(surface, term, page, place)

    async def fetch_issues(self) -> Reading[ChartIndex]:
        now = datetime.now(UTC)
        issues = tuple(
            ChartIssue(volid=str(9 - n), surface="chart_issues", observed_at=now, chart_date=day)
            for n, day in enumerate((date(2026, 11, 20), date(2026, 11, 19), None))
        )
        index = ChartIndex(issues=issues, latest_volid="9")
        return await self._read("chart_issues", "8", index)

    async def fetch_songs(self, volid: str | None, page: int) -> Reading[ChartPage]:
        first = (page - 1) * 10
        songs = tuple(ChartSong(rank=first + n, title=f"song {first + n}") for n in range(1, 11))
        found = ChartPage(
            songs=songs,
            surface="chart_songs",
            observed_at=datetime.now(UTC),
            page=page,
            volid=volid,
            chart_date=date(2026, 11, 20),
            total=30,
        )
        return await self._read("chart_songs", volid or "latest", found, page)

    async def resolve_link(self, url: str) -> LinkTarget:
        current_trace().request_count += 1
        self.asked.append(("short_link", url))
        return self.targets[f"behind {url}"]

    async def download_sound(self, detail: Video, into: Path) -> Any:
        raise AssertionError("no capture of these tests reads a sound")

    async def aclose(self) -> None:
        """Nothing is open."""

    async def _page(self, surface: str, entity_id: str, cursor: int) -> Reading[VideoPage]:
        videos = tuple(video(f"{cursor + n}", surface) for n in (1, 2))
        page = VideoPage(videos=videos, cursor=cursor + 2, has_more=cursor < 6)
        return await self._read(surface, entity_id, page, cursor)

    async def _read(self, surface: str, entity_id: str, value: Any, *more: object) -> Reading[Any]:
        current_trace().request_count += 1
        self.asked.append((surface, entity_id, *more))
        self.arrivals.put_nowait(surface)
        if self.gate is not None:
            await self.gate.wait()
        if self.error is not None:
            raise self.error
        return Reading(
            surface=surface,
            entity_id=entity_id,
            value=value,
            payload=f"{surface} {entity_id} {more}".encode(),
            content_type="text/plain",
            http_status=200,
            source_path=f"/{surface}",
            fetched_at=datetime.now(UTC),
            request_count=1,
            parser_version=PARSER_VERSION,
        )


Open = Callable[..., Captures]


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.fixture
def begin(stores: Stores, source: Source) -> Open:
    """Captures of another reader each time it is called, over the same stores."""

    def begin(**options: Any) -> Captures:
        return Captures(
            provider=options.pop("provider", source),
            lake=stores.lake,
            engine=stores.engine,
            control=options.pop("control", stores.control),
            sounds_dir=stores.root / "sounds",
            **options,
        )

    return begin


@pytest.fixture
def begin_chart(stores: Stores, source: Source) -> Callable[..., ChartCaptures]:
    def begin_chart(**options: Any) -> ChartCaptures:
        return ChartCaptures(
            provider=source,
            lake=stores.lake,
            engine=stores.engine,
            control=stores.control,
            **options,
        )

    return begin_chart


@pytest.fixture
def works() -> Callable[..., list[Video]]:
    """Works by their ids."""
    return lambda *ids: [video(name, "search_single") for name in ids]
