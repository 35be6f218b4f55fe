"""Scans under faults: every job ends, with a documented outcome, and leaves nothing behind.

A campaign is one home with a worker and a service behind the proxy. It goes in rounds of several
scans at a time; each round draws from the seed which faults the platform has meanwhile.
"""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

import httpx2
import psutil

from api.responses.errors import ERROR_SPECS
from benchmarks.chaos.faults import BY_NAME, FAULTS, ProxyFault
from benchmarks.chaos.proxy import FaultProxy, open_proxy
from pipelines.platform.sources.rules import ANSWERED
from tests.deployment import HOUR_S, Deployment, open_deployment
from tests.switch_outcomes import HARMLESS_STOPS
from warehouse.control import hosts
from warehouse.queries.results import read_result_document
from warehouse.records.jobs import FINAL_STATUSES

SEED, SIZE = 5, 0.1
AUDIO_SHARE = 0.1
"""Share of the scans that compare sounds, which the sandbox renders when they are first asked."""
JOB_LIMIT_S = 600.0
"""A scan that has not ended by then hangs: three attempts of 20 s at each of five stages."""
VARIES = {"open files": 20, "threads": 40, "processes": 2}
"""Between rounds pools of threads and of decoders are as large as the round before needed."""
SHORT: Mapping[str, float] = {"silence": 2.0, "trickle": 2.0, "latency": 0.3}
"""Faults last this long in most rounds, so that a campaign has many; in others as declared."""
PARAMETERS: Mapping[str, Any] = {
    "candidate_limit": 15,
    "search_candidate_limit": 15,
    "search_page_limit": 1,
    "search_request_budget": 10,
    "account_profile_limit": 3,
    "refresh": True,
}
OWN_REASONS = frozenset({"response_cut", "empty_ambiguous", "altered_by_host", "deadline"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Weather:
    """The faults of a round: which, on which share of the requests, from where to where."""

    name: str
    faults: tuple[ProxyFault, ...]
    share: float
    only: str = ""

    def chooser(self, chance: random.Random) -> Callable[[str, str], ProxyFault | None]:
        def choose(host: str, path: str) -> ProxyFault | None:
            is_meant = path.startswith("/_world/") is False and self.only in f"{host}{path}"
            is_due = is_meant and chance.random() < self.share
            return chance.choice(self.faults) if is_due else None

        return choose


TARGETS = (
    "", "music/list", "slidesinfo", "share/video", "user/info", "aweme/post", "search", "challenge",
    "play.", "media.", "music.vidplat", "robots.txt",
)  # fmt: skip


def draw_weather(chance: random.Random) -> Weather:
    """Any fault anywhere, one fault on one surface, or the platform gone."""
    is_real = chance.random() < 0.03
    known = [
        one if is_real else replace(one, seconds=SHORT.get(one.name, one.seconds)) for one in FAULTS
    ]
    match chance.choices(("mixed", "one", "gone"), (6, 5, 1))[0]:
        case "mixed":
            share = chance.choice((0.02, 0.05, 0.1, 0.2, 0.4))
            return Weather(name=f"any fault, {share:.0%}", faults=tuple(known), share=share)
        case "one":
            fault, target = chance.choice(known), chance.choice(TARGETS)
            share = chance.choice((0.3, 1.0))
            name = f"{fault.name} at {target or 'all'}, {share:.0%}"
            return Weather(name=name, faults=(fault,), share=share, only=target)
        case _:
            fault = chance.choice([one for one in known if one.is_fatal])
            return Weather(name=f"{fault.name} everywhere", faults=(fault,), share=1.0)


@dataclass
class Campaign:
    """What runs, and what came of it."""

    deployment: Deployment
    proxy: FaultProxy
    client: httpx2.Client
    chance: random.Random
    tracks: list[str]
    number: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    stops: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    rows_before: set[str] = field(default_factory=set)
    held: list[tuple[int, int, int]] = field(default_factory=list)

    def round(self, scans: int) -> str:
        """Run so many scans under one weather; returns its name."""
        weather = draw_weather(self.chance)
        self.proxy.choose = weather.chooser(self.chance)
        began = time.monotonic()
        jobs = [self._ask(music_id) for music_id in self.chance.sample(self.tracks, scans)]
        for job_id in jobs:
            self._judge(job_id, weather, began + JOB_LIMIT_S)
        self.proxy.choose = lambda _host, _path: None
        self._settle()
        self._check_rows()
        return weather.name

    def _ask(self, music_id: str) -> str:
        self.number += 1
        return self.deployment.ask(
            music_id,
            music_id=music_id,
            count=10 + self.number % 480,
            verify_audio=self.chance.random() < AUDIO_SHARE,
            **PARAMETERS,
        )

    def _judge(self, job_id: str, weather: Weather, until: float) -> None:
        try:
            job = self.deployment.ended(job_id, max_wait_s=max(1.0, until - time.monotonic()))
        except AssertionError:
            self._report(weather, job_id, f"hung in {self.deployment.job(job_id).progress.stage}")
            self.outcomes["hung"] += 1
            return
        kind = job.status if job.error is None else f"{job.status}: {job.error.get('type')}"
        self.outcomes[kind] += 1
        if job.status not in FINAL_STATUSES:
            self._report(weather, job_id, f"ended as {job.status}")
        if job.error is not None:
            self._check_error(weather, job_id, job.error)
        self._check_document(weather, job_id, job.status)

    def _check_error(self, weather: Weather, job_id: str, error: Mapping[str, Any]) -> None:
        kind = error.get("type")
        if kind not in ERROR_SPECS or kind == "internal_error":
            self._report(weather, job_id, f"undocumented error {error}")

    def _check_document(self, weather: Weather, job_id: str, status: str) -> None:
        """The service answers with the job as it is, and its coverage says why reading stopped."""
        answer = self.client.get(f"/api/v1/vidplat/app/v3/music_collection_jobs/{job_id}")
        document = answer.json()
        if answer.status_code != 200 or document["data"]["status"] != status:
            self._report(weather, job_id, f"the service answered {answer.status_code}")
        if status != "completed":
            return
        self.deployment.engine.refresh()
        result: Any = read_result_document(self.deployment.engine, job_id)
        for source in result["coverage"]["sources"]:
            reason = source["stop_reason"]
            self.stops[reason] += 1
            if reason not in HARMLESS_STOPS | OWN_REASONS | ERROR_SPECS.keys():
                self._report(weather, job_id, f"undocumented stop reason {reason}")

    def _report(self, weather: Weather, job_id: str, text: str) -> None:
        self.problems.append(f"{weather.name}: job {job_id}: {text}")

    def _check_rows(self) -> None:
        """No acknowledged observation is lost."""
        rows = {
            row["capture_id"] for row in self.deployment.rows("select capture_id from raw.captures")
        }
        if not self.rows_before <= rows:
            self.problems.append(f"{len(self.rows_before - rows)} captures are lost")
        self.rows_before = rows

    def _settle(self) -> None:
        """Forget circuits and learned answers, so that the next round meets its own faults."""
        control = self.deployment.control
        for one in hosts.read_circuits(control):
            hosts.note_success(control, one.host, one.surface, is_probe=True, with_data=True)
        for host, surface in hosts.recent_answers(control, max_age_s=HOUR_S):
            hosts.note_answer(control, host, surface, kind=ANSWERED, keep=1, max_age_s=HOUR_S)

    def measure(self) -> tuple[int, int, int]:
        """Open files, threads and processes of the worker and the service between two rounds."""
        self.held.append(self._held())
        return self.held[-1]

    def leaks(self) -> list[str]:
        """What the last quarter of the rounds held more than the second, beyond what varies."""
        quarter = len(self.held) // 4
        found = []
        for place, (name, varies) in enumerate(VARIES.items()):
            early = median(one[place] for one in self.held[quarter : 2 * quarter] or self.held)
            late = median(one[place] for one in self.held[-quarter:] or self.held)
            if late > early + varies:
                found.append(f"{name}: {early:.0f} early, {late:.0f} late")
        return found

    def _held(self) -> tuple[int, int, int]:
        files = threads = processes = 0
        for child in self.deployment.process_group.children:
            try:
                root = psutil.Process(child.process.pid)
                for one in (root, *root.children(recursive=True)):
                    files, threads = files + one.num_fds(), threads + one.num_threads()
                    processes += 1
            except psutil.NoSuchProcess:
                continue
        return files, threads, processes


@contextmanager
def open_campaign(root: Path, cache: Path, *, seed: int, runs: int = 4) -> Iterator[Campaign]:
    """Start a sandbox, the proxy, and a home with a worker and a service behind it."""
    for name in ("platform", "home"):
        (root / name).mkdir(parents=True)
    with (
        open_deployment(root / "platform", cache) as platform,
        open_deployment(root / "home", cache) as deployment,
    ):
        platform.start_platform(seed=SEED, size=SIZE)
        tracks = [one["music_id"] for one in platform.world("/_world/tracks?counts=0")["tracks"]]
        with open_proxy(platform.port) as proxy:
            deployment.port = proxy.port
            deployment.settings |= {
                "RANDOM_AUDIT_SIZE": "0", "LISTENING_WORKERS": "1",
                "WORKER_RUNS": str(runs), "DAILY_REQUEST_BUDGET": "10000000",
                "RATE_LIMIT_PER_S": "0",
            }  # fmt: skip
            deployment.start_worker()
            client = deployment.start_api()
            yield Campaign(deployment, proxy, client, random.Random(seed), tracks)


__all__ = ["BY_NAME", "Campaign", "open_campaign"]
