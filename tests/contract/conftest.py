"""The whole service in process, over a real control store; results come from a dictionary."""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import structlog
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from api.app import create_app
from api.health import Readiness
from api.scans import Results, ScanDesk, World
from api.settings import ApiSettings
from pipelines.domain.accounts import to_account_summary
from pipelines.domain.documents import Document, to_ranked_document, to_track_document
from pipelines.domain.evidence import ALGORITHM, Comparison, Limits, PairEvidence
from pipelines.domain.jobs import Job
from pipelines.domain.parameters import ScanParameters, scan_key
from pipelines.domain.records import Author, Hashtag, Music, Statistics, Track, Video
from pipelines.domain.results import ResultDocument
from warehouse.control import ControlStore, NewJob, open_control

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
MUSIC_ID = "7300000000000000001"
WORLD, PROVIDER = "sandbox", "public-graph"


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
    results: dict[str, Document] = field(default_factory=dict)
    now: datetime = NOW
    has_room: bool = True
    problems: dict[str, str | None] = field(default_factory=dict)
    provider: str = PROVIDER

    def desk(self) -> ScanDesk:
        world = World(
            name=WORLD,
            provider=self.provider,
            scan_providers=frozenset({PROVIDER}),
            find_target=find_target,
            result_cache_ttl_s=6 * 3600,
            job_retention_days=30,
        )
        return ScanDesk(
            control=self.control,
            results=Results(self.results.get),
            world=world,
            has_room=lambda: self.has_room,
            clock=lambda: self.now,
        )

    def app(self, **settings: Any) -> ASGIApp:
        return create_app(
            settings=ApiSettings(_env_file=None, **settings),
            desk=self.desk(),
            readiness=Readiness({"lake": lambda: self.problems.get("lake")}),
            clock=lambda: self.now,
        )

    def client(self, **settings: Any) -> TestClient:
        return TestClient(
            self.app(**settings), base_url="http://127.0.0.1", raise_server_exceptions=False
        )

    def complete(
        self, job_id: str, document: Document, *, parameters: ScanParameters | None = None
    ) -> Job:
        """What a worker does at the end of a scan."""
        wanted = parameters or ScanParameters()
        self.results[job_id] = document
        self.control.claim("worker")
        key = scan_key(MUSIC_ID, WORLD, PROVIDER, ALGORITHM, wanted)
        self.control.set_target(job_id, music_id=MUSIC_ID, scan_key=key)
        self.control.finish(job_id, "completed", expires_at=self.now + timedelta(days=30))
        job = self.control.job(job_id)
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
        job, _ = self.control.create_or_join(new)
        return self.complete(job.job_id, document or result(40), parameters=wanted)


@pytest.fixture(autouse=True)
def log() -> Iterator[list[Any]]:
    """Log lines of the test, instead of their text."""
    with structlog.testing.capture_logs() as lines:
        yield lines


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    found: list[Service] = []
    url = f"sqlite:///{tmp_path / 'control.sqlite'}"
    with closing(
        open_control(url, world=WORLD, clock=lambda: found[0].now.timestamp() if found else 0.0)
    ) as control:
        found.append(Service(control))
        yield found[0]


@pytest.fixture
def client(service: Service) -> TestClient:
    return service.client()


@pytest.fixture
def make_result() -> Callable[..., Document]:
    return result


def work(number: int) -> Document:
    """Every third work is linked by sound."""
    is_heard = number % 3 == 0
    music_id = f"74000000000000{number:05}" if is_heard else MUSIC_ID
    video = Video(
        aweme_id=f"73500000000000{number:05}",
        surface="video_page",
        observed_at=NOW,
        desc="纸船 Paper Boats",
        create_time=1_700_000_000 + number,
        share_url="https://vidplat.example/video/1",
        media_type="video",
        is_top=False,
        author=Author(sec_uid=f"MS4wLjABAAAA{number % 7}", nickname="阿明"),
        music=Music(music_id=music_id, title="Paper Boats", duration_s=30),
        duration_ms=15_000,
        hashtags=(Hashtag(ch_id="1600000000000001", name="纸船"),),
        statistics=Statistics(
            digg_count=number * 1000, comment_count=number, collect_count=number, share_count=1
        ),
    )
    return to_ranked_document(
        video,
        link_type="audio_fingerprint_match" if is_heard else "exact_music_id",
        source_music_id=music_id,
        source_music_url=f"https://vidplat.example/music/{music_id}",
        comparison=_comparison(video.aweme_id, music_id) if is_heard else None,
    )


def _comparison(aweme_id: str, music_id: str) -> Comparison:
    return Comparison(
        comparison_id=f"c{aweme_id}", reference_aweme_id="73500000000000001",
        candidate_aweme_id=aweme_id, reference_music_id=MUSIC_ID, candidate_music_id=music_id,
        pair=PairEvidence(
            verdict="confirmed", reason="whole segment within limits", segment="whole",
            chroma_distance=0.1, mfcc_distance=0.2, overlap_s=12.0, reference_start_s=0.0,
            candidate_start_s=1.5, peak_agreement=0.8, score=0.91, speed=1.0, semitones=0.0,
        ),
        limits=Limits(), algorithm=ALGORITHM, feature_version="1", library_version="numpy 2",
    )  # fmt: skip


def result(
    count: int, *, ended: bool = False, parameters: ScanParameters | None = None
) -> Document:
    """A result document as a worker writes it, with `count` confirmed works."""
    works = [work(number) for number in range(count)]
    track = Track(music_id=MUSIC_ID, surface="music_info", observed_at=NOW, title="Paper Boats")
    return ResultDocument(
        music=to_track_document(track),
        music_id=MUSIC_ID,
        ranked=works,
        candidate_pool_size=count + 10,
        unique_account_count=min(count, 7),
        account_summary=to_account_summary(works),
        discovery={"rounds": []},
        coverage={
            "sources": [
                {
                    "surface": "music_list", "requests": 3, "pages": 2, "items": 40,
                    "new_items": 40, "stop_reason": "exhausted",
                }
            ],
            "not_reached": ["search:not_available_in_this_release"],
            "unseen_estimate": None,
        },
        parameters=(parameters or ScanParameters()).to_document(),
        sources_ended_by_exhaustion={"music": ended},
        is_demo_data=True,
        data_provider=PROVIDER,
        created_at="2026-01-31T12:00:00Z",
    ).to_document()  # fmt: skip
