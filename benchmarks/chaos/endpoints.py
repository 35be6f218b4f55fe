"""Every operation of the service under every fault of the proxy.

One case is a fresh home, the whole service in this process, and one request while each response of
the platform has the fault. The operations are those that the clients declare; what they are asked
for is below, so an operation without an entry fails a test.
"""

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
from starlette.testclient import TestClient

from api.client.operation import Operation
from api.client.operations import Operations
from api.process import build_app_from_settings
from api.responses.errors import ERROR_SPECS
from api.services.job_feed import JobBroadcaster
from api.settings import ApiSettings
from benchmarks.chaos.faults import ProxyFault
from benchmarks.chaos.proxy import FaultProxy

NAMED: Mapping[str, Operation[..., Any]] = {
    name: one for name, one in vars(Operations).items() if isinstance(one, Operation)
}
READ_TIME_S, SHORT_READ_TIME_S = 30.0, 6.0
"""`SYNC_REQUEST_TIMEOUT` of a case: the default, and a shorter one where a fault lasts longer."""
DISCOVERY_TIME_S = 2.0
GRACE_S = 4.0
"""A deadline is met within this time on a busy machine, the start of the request included."""
KEYS = 11
UNKNOWN_JOB = "00000000-0000-4000-8000-000000000000"
PLATFORM_READS = frozenset({
    "sec_user_id", "user_profile", "user_posts", "user_metrics", "videos", "videos_v1",
    "music_videos", "hashtag_videos", "chart_history",
})  # fmt: skip
"""Operations that ask the platform while the caller waits."""
PARTIAL = frozenset({"videos", "videos_v1", "user_metrics"})
"""Operations that answer with what could be read, and say what could not."""
REDIRECTS = frozenset({"sec_user_id"})
"""Operations that read where a response leads, not its body."""
BODY_FAULTS = frozenset({"length_short"})
OWN_ERRORS: Mapping[str, frozenset[str]] = {
    "chart_history": frozenset({"chart_unavailable"}),
    "sec_user_id": frozenset({"unresolvable_sec_user_id", "upstream_structure_changed"}),
}
"""What an operation calls a response that it cannot use, whatever is wrong with it."""


@dataclass(frozen=True, slots=True)
class Ids:
    """Something that the sandbox has, of each kind."""

    music_id: str
    aweme_id: str
    sec_uid: str
    ch_id: str
    user_link: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What came of one case. `problem`: what was promised and did not hold; empty for nothing."""

    operation: str
    fault: str
    status: int
    error: str | None
    seconds: float
    requests: int
    problem: str = ""


def arguments(ids: Ids) -> Mapping[str, Mapping[str, Any]]:
    """The arguments of every operation that needs some."""
    day = {"start_date": "2022-03-01", "end_date": "2022-03-11"}
    user, job, named = {"sec_user_id": ids.sec_uid}, {"job_id": UNKNOWN_JOB}, {"name": "none"}
    pair, entry = {"comparison_id": "0" * 32}, {"kind": "track", "input": ids.music_id}
    song, words = {"song_key": "0" * 16}, {"keyword": "song"}
    music, videos = {"music": ids.music_id}, {"aweme_ids": [ids.aweme_id]}
    return {
        "sec_user_id": {"url": ids.user_link},
        **dict.fromkeys(("user_profile", "user_posts", "user_metrics"), user),
        **dict.fromkeys(("hot_videos", "create_job", "related_videos"), music),
        "hot_videos_batch": {"inputs": [ids.music_id]},
        "create_search_job": {"keyword": "song"},
        **dict.fromkeys(("job", "cancel_job", "job_ranking", "job_preview"), job),
        **dict.fromkeys(("job_comparisons", "job_plots", "job_reads"), job),
        **dict.fromkeys(("videos", "videos_v1"), videos),
        "music_videos": {"music_id": ids.music_id},
        "hashtag_videos": {"ch_id": ids.ch_id},
        **dict.fromkeys(("music_search", "video_search"), words),
        "chart_history": day,
        "create_watchlist": {"name": "w", "every": "every 6 hours", "entries": [entry]},
        **dict.fromkeys(("watchlist", "change_watchlist", "delete_watchlist"), named),
        **dict.fromkeys(("run_watchlist", "watchlist_runs", "watchlist_digests"), named),
        "watchlist_run": {"name": "none", "run_id": UNKNOWN_JOB},
        **dict.fromkeys(("catalog", "catalog_tracks", "remove_catalog"), named),
        **dict.fromkeys(("run_catalog", "cancel_catalog"), named),
        "import_tracks": {"name": "c", "inputs": [ids.music_id]},
        "chart_song": song,
        "link_chart_song": {**song, "music_id": ids.music_id, "said": "same"},
        **dict.fromkeys(("comparison", "annotations"), pair),
        "annotate": {**pair, "verdict": "same"},
        "write_note": {"kind": "track", "entity_id": ids.music_id, "note": "n"},
        "series": {"kind": "track", "entity_id": ids.music_id},
        "track": {"music_id": ids.music_id},
        "create_shared_link": {"entity_id": UNKNOWN_JOB},
        "revoke_shared_link": {"link_id": "none"},
        "create_alert_channel": {"name": "none", "url": "json://localhost"},
        **dict.fromkeys(("test_alert_channel", "delete_alert_channel"), named),
        "sql": {"sql": "select 1"},
    }


def read_time_s(fault: ProxyFault | None) -> float:
    """How long a read may take under a fault."""
    return SHORT_READ_TIME_S if fault and fault.seconds > SHORT_READ_TIME_S else READ_TIME_S


def settings_for(home: Path, port: int, fault: ProxyFault | None) -> ApiSettings:
    """Settings of a service behind the proxy."""
    return ApiSettings(
        _env_file=None,
        profile="sandbox",
        data_home=home,
        sandbox_port=port,
        sandbox_calendar="fixed",
        rate_limit_per_s=0,
        sync_request_timeout=read_time_s(fault),
        sync_job_timeout=DISCOVERY_TIME_S,
        allowed_hosts="testserver",
    )


def ask(name: str, ids: Ids, proxy: FaultProxy, fault: ProxyFault | None) -> Answered:
    """Make one request of a fresh service while every response has a fault."""
    made = NAMED[name].request(**arguments(ids).get(name, {}))
    before = _held()
    with TemporaryDirectory() as folder:
        feed = JobBroadcaster(limit=4)
        with (
            build_app_from_settings(
                settings_for(Path(folder), proxy.port, fault), feed=feed
            ) as app,
            TestClient(app, raise_server_exceptions=False) as client,
        ):
            asked = proxy.requests
            proxy.choose = lambda _host, path: None if path == "/robots.txt" else fault
            began = time.monotonic()
            response = client.request(made.method, made.path, params=made.params, json=made.body)
            spent_s = time.monotonic() - began
            asked = proxy.requests - asked
    document = response.json()
    data = document.get("data")
    error = data["error"]["type"] if isinstance(data, dict) and data.get("error") else None
    answered = Answered(
        operation=name, fault=fault.name if fault else "none", status=response.status_code,
        error=error, seconds=spent_s, requests=asked,
    )  # fmt: skip
    problems = [*_envelope(answered, document), *_time(answered, fault)]
    problems += [*_error(answered, fault), *_left(before)]
    return Answered(**{**{key: getattr(answered, key) for key in _FIELDS},
                       "problem": "; ".join(problems)})  # fmt: skip


_FIELDS = tuple(Answered.__dataclass_fields__)


def _envelope(answered: Answered, document: Mapping[str, Any]) -> Sequence[str]:
    if len(document) != KEYS or document.get("code") != answered.status:
        return ["no envelope"]
    if answered.error is None:
        return [] if answered.status < 300 else ["no error in the envelope"]
    if answered.error not in ERROR_SPECS or answered.error == "internal_error":
        return [f"undocumented error {answered.error}"]
    wanted = ERROR_SPECS[answered.error].status
    return [] if wanted == answered.status else [f"{answered.error} with {answered.status}"]


def _time(answered: Answered, fault: ProxyFault | None) -> Sequence[str]:
    limit_s = DISCOVERY_TIME_S if answered.operation == "related_videos" else read_time_s(fault)
    late = answered.seconds > limit_s + GRACE_S
    return [f"answered after {answered.seconds:.1f} s"] if late else []


def _error(answered: Answered, fault: ProxyFault | None) -> Sequence[str]:
    if fault is None or answered.operation not in PLATFORM_READS:
        return []
    if answered.error is None:
        needs_no_body = fault.name in BODY_FAULTS and answered.operation in REDIRECTS
        is_allowed = not fault.is_fatal or answered.operation in PARTIAL or needs_no_body
        return [] if is_allowed else ["succeeded although nothing could be read"]
    known = fault.errors | OWN_ERRORS.get(answered.operation, frozenset())
    return [] if answered.error in known else [f"unexpected {answered.error}"]


def _held() -> tuple[int, int, int]:
    """Threads, open files and sockets of this process."""
    process = psutil.Process()
    return threading.active_count(), process.num_fds(), len(process.net_connections())


def _left(before: tuple[int, int, int], max_wait_s: float = 10.0) -> Sequence[str]:
    """What is held more than before, once it had time to go."""
    until = time.monotonic() + max_wait_s
    while any(now > then for now, then in zip(_held(), before, strict=True)):
        if time.monotonic() > until:
            return [f"held before {before}, after {_held()} (threads, files, connections)"]
        time.sleep(0.02)
    return []
