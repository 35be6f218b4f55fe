"""Whole scans with switches of the sandbox on, and what the sandbox counted meanwhile."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.platform import profiles
from tests.deployment import HOUR_S, LOCAL, Deployment, open_deployment
from tests.switch_outcomes import MeasuredScan, SwitchOutcome, forbidden_requests
from warehouse.control import jobs
from warehouse.queries.results import read_candidates, read_result_document

_SEED, _SIZE, _PLACE = 11, 0.2, 0
"""A small world, and a track in it with several music ids."""
_LATENCY_MS = 20
"""Requests that are under way at a challenge arrive before its response is complete."""
_PARAMETERS: Mapping[str, Any] = {
    "candidate_limit": 30,
    "search_candidate_limit": 100,
    "search_page_limit": 2,
    "search_request_budget": 10,
    "account_profile_limit": 5,
}
_SANDBOX = Path(profiles.__file__).parent / "sandbox.toml"
_SHORT_TIMES = ("open_s = 1.0\n", "longest_s = 5.0\n")


def _profile_with_long_circuits(folder: Path) -> Path:
    """Write the sandbox's profile with the circuits of the real platform.

    With those of the sandbox, a second after a challenge a probe is due, and cannot be told from a
    request too many.
    """
    text = _SANDBOX.read_text("utf-8")
    for line in _SHORT_TIMES:
        assert line in text
        text = text.replace(line, "")
    path = folder / "long-circuits.toml"
    path.write_text(text, "utf-8")
    return path


def switch_to(port: int, outcome: SwitchOutcome) -> None:
    """Turn on what a row names, and nothing else; nothing counts as asked."""
    world = f"http://127.0.0.1:{port}/_world"
    LOCAL.delete(f"{world}/switches").raise_for_status()
    chosen = {"mode": outcome.mode, "switches": [outcome.switch] if outcome.switch else []}
    LOCAL.post(f"{world}/switches", json=chosen).raise_for_status()
    LOCAL.delete(f"{world}/access-log/summary").raise_for_status()


def _measure(deployment: Deployment, job_id: str, *, seconds: float) -> MeasuredScan:
    """Return what an ended scan did since the last switch."""
    deployment.engine.refresh()
    document: dict[str, Any] = read_result_document(deployment.engine, job_id) or {}
    coverage = document.get("coverage", {})
    challenges = deployment.world("/_world/access-log/challenges")["challenges"]
    return MeasuredScan(
        status=deployment.job(job_id).status,
        stops=frozenset(
            (one["surface"], one["stop_reason"]) for one in coverage.get("sources", ())
        ),
        decisions=tuple(coverage.get("decisions", ())),
        not_reached=len(coverage.get("not_reached", ())),
        requests=deployment.world("/_world/access-log/summary")["surfaces"],
        forbidden=forbidden_requests(challenges),
        candidates=frozenset(
            (row["outcome"], row["reason"]) for row in read_candidates(deployment.engine, job_id)
        ),
        confirmed=frozenset(video["aweme_id"] for video in document.get("ranked", ())),
        seconds=seconds,
    )


def _is_at_work(deployment: Deployment) -> bool:
    assert deployment.worker is not None
    assert deployment.worker.exit_code() is None, "the worker ended before it began"
    return bool(jobs.live_workers(deployment.control, HOUR_S))


@dataclass(frozen=True, slots=True)
class SwitchedPlatform:
    """A sandbox that runs for many scans, each with a home and a worker of its own.

    So a scan knows of no circuit, pause or answer that the one before it met.
    """

    deployment: Deployment
    cache: Path
    profile: Path
    track: Mapping[str, Any]

    def scan(self, root: Path, outcome: SwitchOutcome, **parameters: object) -> MeasuredScan:
        """Scan the track in a new home as a row says, and measure it.

        `parameters` take the place of the usual ones.
        """
        switch_to(self.deployment.port, outcome)
        root.mkdir(parents=True)
        with open_deployment(root, self.cache, is_measured=True) as deployment:
            deployment.port = self.deployment.port
            deployment.settings["PROFILE"] = str(self.profile)
            deployment.start_worker(RANDOM_AUDIT_SIZE="0", LISTENING_WORKERS="1")
            deployment.wait(lambda: _is_at_work(deployment))
            began = time.monotonic()
            job = deployment.ended(
                deployment.ask(self.track["prose"], **{**_PARAMETERS, **parameters})
            )
            return _measure(deployment, job.job_id, seconds=time.monotonic() - began)


@contextmanager
def open_switched_platform(root: Path, cache: Path) -> Iterator[SwitchedPlatform]:
    """Start the sandbox with every switch off."""
    home = root / "platform"
    home.mkdir(parents=True)
    with open_deployment(home, cache, is_measured=True) as deployment:
        deployment.start_platform(seed=_SEED, size=_SIZE, latency_ms=_LATENCY_MS)
        track = deployment.world("/_world/tracks?counts=0")["tracks"][_PLACE]
        yield SwitchedPlatform(deployment, cache, _profile_with_long_circuits(root), track)
