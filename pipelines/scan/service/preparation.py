"""Prepare a scan: resolve the track and decide whether a scan is needed at all.

Local and remote runs share this step. A job that a stored result satisfies gets no run.
"""

from dataclasses import dataclass

from pipelines.parameters.scan import fingerprint, scan_key, scan_parameters
from pipelines.scan.rules.discovery import DiscoveryParameters, discovery_key
from pipelines.scan.runtime import Runtime
from pipelines.scan.scan_run import ScanRun
from pipelines.scan.service.stored_results import acquire_scan_lease, serve_stored
from warehouse.records.evidence import ALGORITHM
from warehouse.records.jobs import DISCOVERY, KEYWORD_SEARCH, Job


@dataclass(frozen=True, slots=True)
class PreparedScan:
    """A job with its resolved track.

    `is_served`: its result is stored. `waits_for`: the id of the job that already scans the same.
    With neither, the job needs a scan.
    """

    music_id: str
    is_served: bool = False
    waits_for: str | None = None


def prepare_scan(runtime: Runtime, job: Job, *, waited_for: str | None = None) -> PreparedScan:
    """Resolve the input, then look for a stored result and for an equal running job.

    Raises:
        RunCancelledError: Cancellation was requested.
        SametrackError: The input cannot be resolved to a track.
    """
    if job.kind == KEYWORD_SEARCH:
        return PreparedScan("")
    music_id = job.music_id or _resolve(runtime, job)
    twin_key = _set_target(runtime, job, music_id)
    if twin_key is None:
        return PreparedScan(music_id, is_served=True)
    found = acquire_scan_lease(runtime, job, twin_key, waited_for=waited_for)
    return PreparedScan(music_id, is_served=found.is_served, waits_for=found.waits_for)


def _set_target(runtime: Runtime, job: Job, music_id: str) -> str | None:
    """Record the job's target; return the key that equal jobs share, or None if it was served.

    The target of a link is known only now, so stored results are checked here; for a music id the
    API has checked them already.
    """
    provider = runtime.music_provider
    if job.kind == DISCOVERY:
        wanted = DiscoveryParameters(**job.parameters)  # type: ignore[arg-type]  # validated on input
        key = discovery_key(music_id, runtime.world, provider, ALGORITHM, wanted)
        runtime.control.set_target(job.job_id, music_id=music_id, scan_key=key)
        return key
    parameters = scan_parameters(job.parameters)
    key = scan_key(music_id, runtime.world, provider, ALGORITHM, parameters)
    runtime.control.set_target(job.job_id, music_id=music_id, scan_key=key)
    if job.music_id is None and serve_stored(runtime, job, key, parameters):
        return None
    return fingerprint(music_id, runtime.world, provider, parameters)


def _resolve(runtime: Runtime, job: Job) -> str:
    """Resolve the job's input to a music id, before there is a run."""
    with ScanRun(runtime, job, music_id="") as session:
        return session.run(session.captures.resolve(job.input))
