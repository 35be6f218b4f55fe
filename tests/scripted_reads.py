"""Synchronous reads over real stores and the invented world; a script says what goes wrong.

Shared by tests of operations and by the bench. No process, no socket.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, override

from starlette.testclient import TestClient
from starlette.types import ASGIApp

from api.app import create_app
from api.routes.dependencies import Services
from api.server.health import Readiness
from api.services.reads.chart import ChartHistoryReader
from api.services.reads.sources import TASK, Deadline, Sources
from api.services.sql.service import SqlService
from api.settings import ApiSettings
from pipelines.captures.session import Captures
from pipelines.platform.providers import choose_profile
from sandbox.mock.provider import open_world
from sandbox.world.world import SandboxWorld
from tests.api.sql.statements import EngineRunner
from tests.fake_clock import PATIENCE_S, FakeClock
from warehouse.control import ControlStore, open_control
from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.store import open_lake
from warehouse.records.charts import ChartIssue
from warehouse.records.errors import SametrackError

WORLD = "mock"


@dataclass
class Script:
    """What a source meets: `errors` by name of the question, or by that and what it is about.

    `stalled` questions are never answered.
    """

    errors: dict[str, SametrackError] = field(default_factory=dict)
    stalled: set[str] = field(default_factory=set)
    asked: list[tuple[Any, ...]] = field(default_factory=list)
    _stalled_count: int = 0

    async def until_stalled(self, count: int) -> None:
        """Return once so many questions wait for an answer, and nothing else is being read."""
        async with asyncio.timeout(PATIENCE_S):
            while self._stalled_count != count or _reads_under_way() > count:  # noqa: ASYNC110  # tasks tell no one
                await asyncio.sleep(0.01)

    async def meet(self, question: str, *about: Any) -> None:
        self.asked.append((question, *about))
        names = {"*", question, f"{question} {about[0]}" if about else question}
        if names & self.stalled:
            self._stalled_count += 1
            try:
                await asyncio.Event().wait()
            finally:
                self._stalled_count -= 1
        for name in names & self.errors.keys():
            raise self.errors[name]


def _reads_under_way() -> int:
    return sum(task.get_name().startswith(TASK) for task in asyncio.all_tasks())


class Scripted:
    """A source that meets the script before it answers."""

    def __init__(self, inner: Any, script: Script) -> None:
        self._inner = inner
        self._script = script

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if not name.startswith(("fetch_", "resolve_")):
            return found

        async def ask(*about: Any) -> Any:
            await self._script.meet(name, *about)
            return await found(*about)

        return ask


class ScriptedSources(Sources):
    """The sources of the settings, behind a script."""

    script: Script

    @override
    def _build(self, build: Callable[..., Any], **options: Any) -> Any:
        built: Any = super()._build(build, **options)
        return None if built is None else Scripted(built, self.script)


@dataclass
class ReadService:
    """Sources and what is behind them; `left` are issues left for the background."""

    sources: ScriptedSources
    script: Script
    engine: Engine
    control: ControlStore
    left: list[ChartIssue] = field(default_factory=list)

    @property
    def world(self) -> SandboxWorld:
        """The generated world that the source reads."""
        settings = self.sources.settings
        return open_world(settings.mock_seed, settings.mock_size)

    @property
    def chart(self) -> ChartHistoryReader:
        """A history without memory of refusals."""
        return ChartHistoryReader(self.sources, leave=self.left.extend)

    def app(self, **settings: Any) -> ASGIApp:
        """The service around these reads; it has no scans."""
        return create_app(
            Services(
                readiness=Readiness({}),
                sources=self.sources,
                chart=self.chart,
                sql=SqlService(EngineRunner(self.engine), is_demo=True),
            ),
            settings=self.sources.settings.model_copy(update=settings),
        )

    def client(self, **settings: Any) -> TestClient:
        """A visitor of that service."""
        app = self.app(**settings)
        return TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        self.engine.refresh()
        return self.engine.rows(sql)

    def commits(self, table: str) -> int:
        """How often a table was written to."""
        return self.engine.lake.version(table)


async def until_over[T](
    script: Script, read: Callable[[Deadline], Awaitable[T]], *, stalled: int
) -> T:
    """Read while the source keeps so many questions waiting until the time is over."""
    clock = FakeClock(is_held=True)
    reading = asyncio.ensure_future(read(Deadline(30, clock=clock)))
    await script.until_stalled(stalled)
    clock.advance(30)
    return await reading


def without_end() -> Deadline:
    """As much time as a busy machine needs."""
    return Deadline(30, clock=FakeClock(is_held=True))


@contextmanager
def open_reads(root: Path, **settings: Any) -> Iterator[ReadService]:
    """Reads of the invented world over empty stores."""
    values = {"data_provider": "mock", "mock_size": 0.1, "mock_seed": 11, **settings}
    chosen = ApiSettings(_env_file=None, **values)
    profile = choose_profile(chosen)
    root.mkdir(exist_ok=True)
    with ExitStack() as stack:
        url = f"sqlite:///{root / 'control.sqlite'}"
        control = stack.enter_context(closing(open_control(url, world=profile.name)))
        engine = stack.enter_context(
            closing(Engine(open_lake(str(root / "lake"), world=profile.name)))
        )
        sources = ScriptedSources(
            settings=chosen,
            profile=profile,
            engine=engine,
            control=control,
            sounds_dir=root / "sounds",
        )
        sources.script = Script()
        yield ReadService(sources, sources.script, engine, control)


__all__ = ["Captures", "ReadService", "Script", "open_reads"]
