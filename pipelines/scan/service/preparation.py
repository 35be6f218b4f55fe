"""What comes before a scan: which track is meant, and whether it must be scanned at all.

The same for a scan of this machine and for one that runs elsewhere. What needs no run gets none.
"""

from dataclasses import dataclass

from pipelines.parameters.scan import fingerprint, scan_key, scan_parameters
from pipelines.scan.rules.discovery import DiscoveryParameters, discovery_key
from pipelines.scan.runtime import Runtime
from pipelines.scan.scan_run import ScanSession
from pipelines.scan.service.stored_results import find_holder, serve_stored
from warehouse.records.evidence import ALGORITHM
from warehouse.records.jobs import DISCOVERY, KEYWORD_SEARCH, Job


@dataclass(frozen=True, slots=True)
class Prepared:
    """A job that is known for what it is.

    `is_served`: its result is stored. `waits_for`: the job that scans the same already. Neither:
    it is to be scanned.
    """

    music_id: str
    is_served: bool = False
    waits_for: str | None = None


def prepare_scan(runtime: Runtime, job: Job, *, waited_for: str | None = None) -> Prepared:
    """Resolve the input, then look for a stored result and for a twin.

    Raises:
        RunCancelledError: Cancelling was asked for.
        SametrackError: The input leads to no track, or the platform does not tell.
    """
    if job.kind == KEYWORD_SEARCH:
        return Prepared("")
    music_id = job.music_id or _resolve(runtime, job)
    twin_key = _settle(runtime, job, music_id)
    if twin_key is None:
        return Prepared(music_id, is_served=True)
    found = find_holder(runtime, job, twin_key, waited_for=waited_for)
    return Prepared(music_id, is_served=found.is_served, waits_for=found.waits_for)


def _settle(runtime: Runtime, job: Job, music_id: str) -> str | None:
    """Note what the job is about; returns what its twins share, or None when a stored result
    served it. A job that came as a link is known for what it is only now, so the look is taken
    here that the API takes for an id.
    """
    provider = runtime.music_provider
    if job.kind == DISCOVERY:
        wanted = DiscoveryParameters(**job.parameters)  # type: ignore[arg-type]  # validated at the door
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
    """Read which track a link leads to. A scan whose track is unknown has no run."""
    with ScanSession(runtime, job, music_id="") as session:
        return session.run(session.captures.resolve(job.input))
