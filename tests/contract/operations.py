"""The seventeen operations of the interface, each with a request that it answers with success.

Shared by tests that go through all of them.
"""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pipelines.platform.providers import build_provider
from pipelines.platform.providers.provider import ProviderDependencies
from tests.scripted_reads import ReadService
from tests.stored_results import MUSIC_ID
from warehouse.control import jobs
from warehouse.records.values import Document

VIDPLAT = "/api/v1/vidplat"
APP = f"{VIDPLAT}/app/v3"
JOBS = f"{APP}/music_collection_jobs"

Kind = Literal["door", "scan", "read"]
"""What an operation works with: nothing behind the guard, the scan service, sources."""


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One operation. `number` is that of the interface; `good` is a request that succeeds."""

    number: str
    method: str
    path: str
    kind: Kind
    good: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.number} {self.method} {self.path.rsplit('/', 1)[1]}"


def _operations() -> tuple[Operation, ...]:
    """Ids of the invented world stand in braces, and are filled in by `request_of`."""
    dates = {"start_date": "2022-03-01", "end_date": "2022-03-11"}
    user, music = {"sec_user_id": "{sec_uid}"}, {"music_id": MUSIC_ID}

    def get(number: str, path: str, kind: Kind, params: Mapping[str, str]) -> Operation:
        return Operation(number=number, method="GET", path=path, kind=kind, good={"params": params})

    def post(number: str, path: str, kind: Kind, body: object) -> Operation:
        return Operation(number=number, method="POST", path=path, kind=kind, good={"json": body})

    job = f"{JOBS}/{{job_id}}"
    return (
        get("1", f"{VIDPLAT}/web/get_sec_user_id", "read", {"url": "{sec_uid}"}),
        get("2", f"{APP}/handler_user_profile", "read", user),
        get("3", f"{APP}/fetch_user_post_videos", "read", user),
        get("4", f"{APP}/fetch_user_metrics", "read", user),
        get("5", f"{APP}/fetch_music_hot_videos", "scan", music),
        post("6", f"{APP}/fetch_music_hot_videos_batch", "scan", {"inputs": [MUSIC_ID]}),
        post("7", JOBS, "scan", {"input": MUSIC_ID}),
        Operation(number="8", method="GET", path=job, kind="scan"),
        Operation(number="8", method="DELETE", path=job, kind="scan"),
        get("9", f"{APP}/discover_music_related_videos", "scan", music),
        post("10", f"{VIDPLAT}/web/fetch_multi_video", "read", ["{aweme_id}"]),
        post("11", f"{APP}/fetch_multi_video", "read", ["{aweme_id}"]),
        get("12", f"{APP}/fetch_music_video_list", "read", {"music_id": "{music_id}"}),
        get("13", f"{APP}/fetch_hashtag_video_list", "read", {"ch_id": "{ch_id}"}),
        post("14", f"{VIDPLAT}/search/fetch_music_search", "door", {"keyword": "song"}),
        post("15", f"{VIDPLAT}/search/fetch_video_search_v1", "door", {"keyword": "song"}),
        get("16", "/api/v1/music/chartsrc/top500/history", "read", dates),
    )


OPERATIONS = _operations()


def operation(number: str, method: str | None = None) -> Operation:
    """The operation of a number; endpoint 8 has two."""
    found = [one for one in OPERATIONS if one.number == number and method in {None, one.method}]
    return found[0]


def ids_of(reads: ReadService) -> dict[str, str]:
    """An id of each kind that the invented world shows."""
    sources = reads.sources
    world: Any = build_provider(
        sources.settings.data_provider,
        ProviderDependencies(
            settings=sources.settings, profile=sources.profile, control=sources.control
        ),
    )
    return {
        "sec_uid": world.sec_uids()[0],
        "music_id": world.music_ids()[0],
        "ch_id": world.ch_ids()[0],
        "aweme_id": world.aweme_ids()[0],
    }


def filled(value: Any, ids: Mapping[str, str]) -> Any:
    """A request with the ids in place of their names in braces."""
    if isinstance(value, str):
        return value.format(**ids) if value.startswith("{") else value
    if isinstance(value, Mapping):
        return {name: filled(one, ids) for name, one in value.items()}
    return [filled(one, ids) for one in value]


class BusyWorker:
    """A worker that ends the next job in the background, with a result or an error."""

    def __init__(
        self, service: Any, *, result: Document | None = None, error: Document | None = None
    ) -> None:
        self._service, self._result, self._error = service, result, error
        self._thread = threading.Thread(target=self._work)
        self._is_over = threading.Event()

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_exc: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _work(self) -> None:
        control = self._service.control
        while (job := jobs.claim(control, "worker")) is None:
            if self._is_over.wait(0.01):
                return
        if self._result is not None:
            self._service.results[job.job_id] = self._result
        jobs.finish(
            control, job.job_id, "failed" if self._error else "completed", error=self._error
        )
