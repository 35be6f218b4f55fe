"""Users of the console as their browsers behave: the page once, then reads, polls and an event
stream, with pauses to look.
"""

import asyncio
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx2

JOBS = "/api/v1/vidplat/app/v3/music_collection_jobs"
OWN = "/api/v1/sametrack"
TIMEOUT_S = 60.0
STREAM_S = 20.0
PAUSE_S = (1.0, 5.0)
"""Shortest and longest pause of a user between two requests."""


@dataclass
class Tally:
    """Requests by kind: how long they took, and how they ended."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    ends: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, kind: str, seconds: float, end: str) -> None:
        self.seconds.setdefault(kind, []).append(seconds)
        self.ends[kind, end] += 1


@dataclass
class Town:
    """What the users of one service know: tracks, accounts, and the jobs of the moment.

    All rest together while `is_open` is not set; `is_quiet` is set as soon as nobody is at work.
    """

    tracks: Sequence[str]
    accounts: Sequence[str]
    jobs: list[str] = field(default_factory=list)
    is_open: asyncio.Event = field(default_factory=asyncio.Event)
    is_quiet: asyncio.Event = field(default_factory=asyncio.Event)
    at_work: int = 0

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """Wait for the end of a rest, then work."""
        await self.is_open.wait()
        self.at_work += 1
        self.is_quiet.clear()
        try:
            yield
        finally:
            self.at_work -= 1
            if not self.at_work:
                self.is_quiet.set()


class User:
    """One browser with a cache: what it has read before is revalidated."""

    def __init__(self, client: httpx2.AsyncClient, town: Town, tally: Tally, seed: int) -> None:
        self._client = client
        self._town = town
        self._tally = tally
        self._chance = random.Random(seed)
        self._tags: dict[str, str] = {}

    async def live(self, until: float) -> None:
        """Open the console, then look at one thing after the other."""
        await asyncio.sleep(self._chance.uniform(0, PAUSE_S[1]))
        async with self._town.working():
            for path in ("/", "/console/app/main.js", "/console/style/page.css"):
                await self._get("page", path)
        while time.monotonic() < until:
            async with self._town.working():
                await self._look()
            await asyncio.sleep(self._chance.uniform(*PAUSE_S))

    async def _look(self) -> None:
        chance = self._chance
        job = chance.choice(self._town.jobs) if self._town.jobs else None
        kinds = ("poll", "jobs", "hot", "list", "profile", "stream")
        match chance.choices(kinds, (50, 15, 10, 10, 10, 5))[0]:
            case "poll" if job is not None:
                await self._get("poll", f"{JOBS}/{job}")
            case "stream" if job is not None:
                await self._stream(f"{OWN}/jobs/{job}/events")
            case "hot" if job is not None:
                await self._get("ranking", f"{OWN}/jobs/{job}/ranking?count=30")
            case "list":
                music_id = chance.choice(self._town.tracks)
                await self._get(
                    "list", f"/api/v1/vidplat/app/v3/fetch_music_video_list?music_id={music_id}"
                )
            case "profile":
                account = chance.choice(self._town.accounts)
                await self._get(
                    "profile", f"/api/v1/vidplat/app/v3/handler_user_profile?sec_user_id={account}"
                )
            case _:
                await self._get("jobs", f"{OWN}/jobs?limit=20")

    async def _get(self, kind: str, path: str) -> None:
        tag = self._tags.get(path)
        began = time.monotonic()
        try:
            answer = await self._client.get(path, headers={"If-None-Match": tag} if tag else {})
        except httpx2.HTTPError as error:
            self._tally.add(kind, time.monotonic() - began, type(error).__name__)
            return
        self._tally.add(kind, time.monotonic() - began, end_of(answer))
        if "etag" in answer.headers:
            self._tags[path] = answer.headers["etag"]

    async def _stream(self, path: str) -> None:
        began = time.monotonic()
        try:
            async with (
                asyncio.timeout(STREAM_S),
                self._client.stream("GET", path) as answer,
            ):
                self._tally.add("stream", time.monotonic() - began, str(answer.status_code))
                async for _ in answer.aiter_bytes():
                    continue
        except TimeoutError:
            return  # the user looks elsewhere
        except httpx2.HTTPError as error:
            self._tally.add("stream", time.monotonic() - began, type(error).__name__)


def end_of(answer: httpx2.Response) -> str:
    """How a request ended: its status, and the type of its error."""
    if answer.status_code < 400:
        return str(answer.status_code)
    try:
        return f"{answer.status_code} {answer.json()['data']['error']['type']}"
    except (ValueError, KeyError, TypeError):
        return str(answer.status_code)


async def ask_bare(base: str, tally: Tally, until: float) -> None:
    """One user of a bare route of the same size, for comparison in the same run."""
    async with httpx2.AsyncClient(base_url=base, timeout=TIMEOUT_S, trust_env=False) as client:
        while time.monotonic() < until:
            began = time.monotonic()
            answer = await client.get("/")
            tally.add("bare route", time.monotonic() - began, str(answer.status_code))
            await asyncio.sleep(0.2)
