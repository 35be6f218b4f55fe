"""A platform of a few sources, for tests of which of them are asked."""

import asyncio
from types import SimpleNamespace
from typing import Any

from pipelines.platform.http.circuit_breaker import LearnedHealth
from pipelines.platform.sources.planner import Planner
from pipelines.platform.sources.table import Question, Reading, Source, SourceRequest
from tests.fake_clock import START, FakeClock
from warehouse.records.errors import (
    EmptyAnswerError,
    UpstreamError,
)

type Answer = frozenset[str] | type[UpstreamError] | UpstreamError
FULL = frozenset({"likes", "collects"})
PARTIAL = frozenset({"likes"})


class Platform:
    """Sources with a host each; what they answer is set by the test, and counted."""

    def __init__(self, clock: FakeClock, **hosts: str) -> None:
        self.clock = clock
        self.health = LearnedHealth(clock=clock)
        self.profile = SimpleNamespace(host_of=hosts.__getitem__)
        self.answers: dict[str, Answer] = dict.fromkeys(hosts, FULL)
        self.asked: list[str] = []
        self.at_once = self.most_at_once = 0
        self.planner: Planner[Any] = Planner(self)

    def source(self, name: str, **values: Any) -> Source[Any, frozenset[str]]:
        async def read(_at: Any, _request: SourceRequest) -> Reading[frozenset[str]]:
            self.asked.append(name)
            await asyncio.sleep(0)
            answer = self.answers[name]
            host = self.profile.host_of(name)
            if not isinstance(answer, frozenset):
                error = answer("no", surface=name) if isinstance(answer, type) else answer
                await self.health.note(host, name, error)
                raise error
            await self.health.note(host, name, None)
            return Reading(
                surface=name, entity_id="1", value=answer, payload=b"", content_type=None,
                http_status=200, source_path="/", fetched_at=START, request_count=1,
                parser_version="1",
            )  # fmt: skip

        defaults: dict[str, Any] = {"surface": name, "gives": FULL, "read": read}
        return Source(**(defaults | values))

    def read_slowly(self, name: str) -> Any:
        """The reading function of a source that lets others go on before it answers."""
        read = self.source(name).read

        async def slowly(at: Any, request: SourceRequest) -> Reading[frozenset[str]]:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            try:
                for _ in range(50):
                    await asyncio.sleep(0)
                return await read(at, request)
            finally:
                self.at_once -= 1

        return slowly

    def question(
        self, *sources: Source[Any, frozenset[str]], **values: Any
    ) -> Question[Any, frozenset[str]]:
        return Question(
            **values,
            name="detail",
            is_walk=True,
            fields=FULL,
            sources=sources,
            missing=lambda value: FULL - value,
        )

    async def surface(self, question: Question[Any, frozenset[str]], cursor: int = 0) -> str:
        request = SourceRequest(entity_id="1", cursor=cursor)
        return (await self.planner.ask(question, request)).surface


def empty(surface: str) -> UpstreamError:
    return EmptyAnswerError("no", surface=surface, reason="empty_body")
