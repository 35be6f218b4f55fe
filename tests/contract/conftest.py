"""The whole service in process, over a real control store; results come from a dictionary.

And the typed client, of this service or of one that gives the answers of a test.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
import structlog
from fastapi import FastAPI
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from api.app import create_app
from api.client import AsyncClient, Client, Connection
from api.openapi import description
from api.responses.errors import NotFoundError
from api.routes.dependencies import Services
from api.schemas.extensions.tracks import TrackPage
from api.server.access.sessions import KEY_BYTES, SessionStore, signer_of
from api.server.health import Readiness
from api.server.middleware import RequestLogger
from api.services.evidence.annotations import AnnotationService
from api.services.evidence.service import EvidenceService
from api.services.shared_links import SharedLinkService
from api.services.sql.service import SqlService
from api.services.tracks import TrackService
from api.settings import SHARED_PAGES, ApiSettings
from pipelines.parameters.scan import ScanParameters, scan_key
from pipelines.scan.service.service import ResultCache, ScanConfig, ScanService
from tests.scripted_reads import ReadService, open_reads
from tests.stored_results import MUSIC_ID, NOW, PROVIDER, result
from warehouse.caches import ExcerptFolder
from warehouse.control import ControlStore, jobs, open_control
from warehouse.control.access.sessions import StoredSessions
from warehouse.control.jobs import NewJob
from warehouse.records.evidence import ALGORITHM
from warehouse.records.jobs import Job
from warehouse.records.values import Document

WORLD = "sandbox"
HERE = "http://127.0.0.1"


@dataclass(frozen=True)
class Named:
    kind: str
    id: str = ""
    url: str | None = None


def find_target(text: str) -> Named | None:
    """Links of an invented platform."""
    for kind in ("music", "video", "user"):
        _, found, rest = text.partition(f"https://vidplat.example/{kind}/")
        if found:
            return Named(kind, rest.split()[0])
    _, found, rest = text.partition("https://s.example/")
    return Named("short", rest, f"https://s.example/{rest}") if found else None


@dataclass
class Service:
    """The service with what is behind it; `clock` is read on every request."""

    control: ControlStore
    results: dict[str, Any] = field(default_factory=dict)
    now: datetime = NOW
    has_free_space: bool = True
    problems: dict[str, str | None] = field(default_factory=dict)
    provider: str = PROVIDER
    excerpts: Path | None = None
    comparisons: dict[str, dict[str, Any]] = field(default_factory=dict)
    sounds: dict[str, dict[str, Any]] = field(default_factory=dict)
    captions: dict[str, dict[str, Any]] = field(default_factory=dict)

    annotations: list[Any] = field(default_factory=list)
    is_awaited: bool = False
    reads: ReadService | None = None
    sql: SqlService | None = None
    sessions: SessionStore | None = None
    has_links: bool = True

    def scan_service(self) -> ScanService:
        world = ScanConfig(
            name=WORLD,
            provider=self.provider,
            scan_providers=frozenset({PROVIDER}),
            find_target=find_target,
            result_cache_ttl_s=6 * 3600,
            job_retention_days=30,
            worker_lost_after_s=20.0,
            is_awaited=self.is_awaited,
        )
        return ScanService(
            control=self.control,
            results=ResultCache(self.results.get),
            world=world,
            has_free_space=lambda: self.has_free_space,
            clock=lambda: self.now,
        )

    def evidence(self) -> EvidenceService:
        return EvidenceService(
            read_comparison=self.comparisons.get,
            read_comparisons=lambda job_id: [
                row for row in self.comparisons.values() if row["job_id"] == job_id
            ],
            read_captions=lambda ids: {
                one: self.captions[one] for one in ids if one in self.captions
            },
            read_sounds=lambda hashes, _version: {
                sha256: self.sounds[sha256] for sha256 in hashes if sha256 in self.sounds
            },
            excerpts=ExcerptFolder(
                folder=self.excerpts or Path("nowhere"), max_bytes=1_000_000, max_age_s=3600.0
            ),
            is_demo=True,
        )

    def said_of(self, comparison_id: str | None) -> list[Any]:
        known = self.annotations
        return [
            {**self.comparisons.get(row["comparison_id"], {}), **row}
            for row in known
            if comparison_id in {None, row["comparison_id"]}
        ]

    def shared_links(self) -> SharedLinkService | None:
        if not self.has_links:
            return None
        signer = signer_of(b"k" * KEY_BYTES, SHARED_PAGES)
        return SharedLinkService(
            self.control,
            self.scan_service(),
            self.evidence(),
            read_track=self.read_track,
            open_signer=lambda: signer,
        )

    def read_track(self, music_id: str) -> TrackPage:
        """What is stored of a track; without stores nothing is."""
        if self.reads is None:
            raise NotFoundError("Nothing is stored", hint="Scan it first")
        return TrackService(self.reads.engine, self.reads.control, is_demo=True).page(music_id)

    def app(self, *, note: RequestLogger | None = None, **settings: Any) -> ASGIApp:
        return create_app(
            Services(
                scan_service=self.scan_service(),
                evidence=self.evidence(),
                shared_links=self.shared_links(),
                annotations=AnnotationService(
                    read_comparison=self.comparisons.get,
                    read_annotations=self.said_of,
                    append=lambda _table, rows: self.annotations.extend(rows),
                    is_demo=True,
                ),
                readiness=Readiness({"lake": lambda: self.problems.get("lake")}),
                sources=None if self.reads is None else self.reads.sources,
                chart=None if self.reads is None else self.reads.chart,
                sql=self.sql,
                sessions=self.sessions or StoredSessions(self.control),
            ),
            settings=ApiSettings(_env_file=None, **{"rate_limit_per_s": 0, **settings}),
            note=note,
            clock=lambda: self.now,
        )

    def client(self, **settings: Any) -> TestClient:
        return TestClient(self.app(**settings), base_url=HERE, raise_server_exceptions=False)

    def complete(
        self, job_id: str, document: Document, *, parameters: ScanParameters | None = None
    ) -> Job:
        """What a worker does at the end of a scan."""
        wanted = parameters or ScanParameters()
        self.results[job_id] = document
        jobs.claim(self.control, "worker")
        key = scan_key(MUSIC_ID, WORLD, PROVIDER, ALGORITHM, wanted)
        jobs.set_target(self.control, job_id, music_id=MUSIC_ID, scan_key=key)
        jobs.finish(self.control, job_id, "completed", expires_at=self.now + timedelta(days=30))
        job = jobs.get(self.control, job_id)
        assert job is not None
        return job

    def stored(
        self, document: Document | None = None, *, parameters: ScanParameters | None = None
    ) -> Job:
        """A job that completed just now."""
        wanted = parameters or ScanParameters()
        new = NewJob(
            kind="scan", input=MUSIC_ID, target=MUSIC_ID, music_id=MUSIC_ID,
            parameters=wanted.to_document(), fingerprint=f"stored {len(self.results)}",
            scan_key=None, origin="cli", priority=100,
        )  # fmt: skip
        job, _ = jobs.create_or_join(self.control, new)
        return self.complete(job.job_id, document or result(40), parameters=wanted)


@pytest.fixture(autouse=True)
def log() -> Iterator[list[Any]]:
    """Log lines of the test, instead of their text."""
    with structlog.testing.capture_logs() as lines:
        yield lines


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with open_service(tmp_path) as service:
        yield service


@pytest.fixture(scope="module")
def shared_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One for all tests of a module."""
    with open_service(tmp_path_factory.mktemp("service")) as service:
        yield service


@contextmanager
def open_service(root: Path) -> Iterator[Service]:
    """The service over an empty control store."""
    found: list[Service] = []
    url = f"sqlite:///{root / 'control.sqlite'}"
    with closing(
        open_control(url, world=WORLD, clock=lambda: found[0].now.timestamp() if found else 0.0)
    ) as control:
        found.append(Service(control))
        yield found[0]


@pytest.fixture(scope="session", autouse=True)
def _routes_are_described_once() -> Iterator[None]:
    """The API description follows from the routes of an application, and takes a second."""
    documents: dict[tuple[str, ...], Document] = {}
    build = description.build

    def kept(app: FastAPI) -> Document:
        paths = tuple(str(getattr(route, "path", route)) for route in app.routes)
        if paths not in documents:
            documents[paths] = build(app)
        return documents[paths]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(description, "build", kept)
        yield


@pytest.fixture
def client(service: Service) -> TestClient:
    return service.client()


@pytest.fixture(scope="module")
def stored_reads(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReadService]:
    """Synchronous reads of the invented world, over stores that a module shares."""
    with open_reads(tmp_path_factory.mktemp("reads")) as reads:
        yield reads


@pytest.fixture
def reads(stored_reads: ReadService) -> ReadService:
    """The same, with nothing going wrong yet."""
    stored_reads.script.__init__()  # type: ignore[misc]  # the script of this test, not of the last
    stored_reads.left.clear()
    return stored_reads


@pytest.fixture
def make_result() -> Callable[..., Document]:
    return result


@pytest.fixture
def caller(service: Any) -> Iterator[Client]:
    with client_of(service.client()) as found:
        yield found


@pytest.fixture
async def awaiting(service: Any) -> AsyncIterator[AsyncClient]:
    transport = httpx2.ASGITransport(service.app(), raise_app_exceptions=False)
    async with AsyncClient(Connection(base_url=HERE), transport=transport) as found:
        yield found


def client_of(test_client: TestClient, **connection: Any) -> Client:
    return Client(Connection(base_url=HERE, **connection), transport=test_client._transport)


def in_turn(
    responses: tuple[httpx2.Response | Exception, ...],
) -> tuple[httpx2.MockTransport, list[str]]:
    """A service that gives these answers in turn, and what it was asked."""
    asked: list[str] = []
    turn = iter(responses)

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(f"{request.method} {request.url.path}")
        found = next(turn)
        if isinstance(found, Exception):
            raise found
        return found

    return httpx2.MockTransport(answer), asked


def answering(*responses: httpx2.Response | Exception) -> tuple[Client, list[str], list[float]]:
    """A client whose service gives these answers in turn; what was asked, and the pauses."""
    transport, asked = in_turn(responses)
    pauses: list[float] = []
    return Client(transport=transport, sleep=pauses.append), asked, pauses


def answering_twin(
    *responses: httpx2.Response | Exception,
) -> tuple[AsyncClient, list[str], list[float]]:
    """The same for the client that is awaited."""
    transport, asked = in_turn(responses)
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    return AsyncClient(transport=transport, sleep=pause), asked, pauses


def refusal(status: int, kind: str, *, retry_after: float | None = None) -> httpx2.Response:
    error = {
        "type": kind,
        "detail": "why",
        "hint": "what to do",
        "retry_after": retry_after,
        "upstream": None,
    }
    envelope = {
        "code": status,
        "request_id": "r-1",
        "message": "m",
        "message_zh": "消息",
        "data": {"error": error},
    }
    return httpx2.Response(status, json=envelope)


def good(data: object) -> httpx2.Response:
    envelope = {"code": 200, "request_id": "r-2", "message": "", "message_zh": ""}
    return httpx2.Response(200, json={**envelope, "params": {}, "time_stamp": 1, "data": data})
