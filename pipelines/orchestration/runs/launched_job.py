"""The job of a run that a user launched in Dagster: in its UI, its command line, a back-fill.

The queue knows nothing of such a run, so it gets a job of its own with the origin `launchpad`. A
run of single steps begins with a stored state after the steps before them. Not here: the life of
the run (`run_session.py`).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from dagster import AssetKey, AssetsDefinition, DagsterRun

from pipelines.orchestration.partitions import MUSIC_PARTITION
from pipelines.parameters.scan import scan_parameters
from pipelines.scan.rules.discovery import DiscoveryParameters
from pipelines.scan.runtime import Runtime
from pipelines.scan.service.preparation import acquire_scan_lease, job_keys
from pipelines.scan.state.scan_state import ScanState, find_state
from warehouse.control import jobs
from warehouse.control.jobs import NewJob
from warehouse.records import jobs as job_records
from warehouse.records.errors import InvalidMusicInputError, WorkerUnavailableError

PARTITION_TAG = "dagster/partition"
NEWEST_JOBS = 20
"""The newest jobs of a track in which a state to begin with is searched."""


@dataclass(frozen=True, slots=True)
class StepGraph:
    """The steps of one kind of job.

    Attributes:
        assets: The step that yields each asset.
        needs: The steps that each step needs directly.
    """

    assets: Mapping[AssetKey, str]
    needs: Mapping[str, frozenset[str]]

    def before(self, steps: Collection[str]) -> frozenset[str]:
        """Return the other steps that these need, directly or indirectly."""
        needed: set[str] = set()
        open_steps = list(steps)
        while open_steps:
            new = self.needs[open_steps.pop()] - needed
            needed |= new
            open_steps.extend(new)
        return frozenset(needed - set(steps))


def read_graph(assets: Sequence[AssetsDefinition]) -> StepGraph:
    """Return the graph of these assets, from the dependencies that they declare."""
    steps = {key: _step_of(asset.op.name) for asset in assets for key in asset.keys}
    needs = {}
    for asset in assets:
        step = _step_of(asset.op.name)
        needs[step] = frozenset(steps[key] for key in asset.dependency_keys if key in steps)
    return StepGraph(steps, {step: before - {step} for step, before in needs.items()})


def _step_of(op: str) -> str:
    """Return the step of an op, as `complete_step` names it: `tracks` for `raw__tracks`."""
    return op.rpartition("__")[2]


@dataclass(frozen=True, slots=True)
class LaunchedJob:
    """The job of a launched run, and the state that it begins with, if it has earlier steps."""

    job: job_records.Job
    partition: str
    selected: frozenset[str]
    state: ScanState | None


def begin_job(runtime: Runtime, run: DagsterRun, graphs: Mapping[str, StepGraph]) -> LaunchedJob:
    """Create the running job of a launched run; it has the id of the run.

    Raises:
        InvalidMusicInputError: The partition has no such steps, no search of this name is known,
            or no state is stored that the selected steps could begin with.
        WorkerUnavailableError: Another job scans the same at this moment.
    """
    partition = run.tags[PARTITION_TAG]
    kind = _kind_of(run, partition, graphs)
    selected = _selected_steps(run, partition, graphs[kind])
    subject = partition.removeprefix(MUSIC_PARTITION)
    earlier = jobs.newest_of(runtime.control, kind, subject, limit=NEWEST_JOBS)
    before = graphs[kind].before(selected)
    state = None
    if before:
        # The state of the run that it repeats, else of the newest jobs of the same track.
        repeated = [] if run.parent_run_id is None else [run.parent_run_id]
        job_ids = list(dict.fromkeys([*repeated, *(job.job_id for job in earlier)]))
        state = find_state(
            runtime, job_ids, finished=before, unfinished=selected, repeated=run.parent_run_id
        )
        if state is None:
            raise InvalidMusicInputError(
                f"No state is kept that {', '.join(sorted(selected))} could begin with",
                hint=f"Materialize {', '.join(sorted(before))} as well, or launch the job `scan`",
            )
        state.checkpoint = 0  # counts the checkpoints of one job
    job = jobs.begin(runtime.control, _new_job(run, kind, partition, earlier), f"run:{run.run_id}")
    if job.music_id is not None:
        # The lease of the scan keeps other jobs from scanning the same meanwhile.
        key, twin = job_keys(runtime, job, job.music_id)
        holder = acquire_scan_lease(runtime, job, job.music_id, twin).waits_for
        if holder is not None:
            error = WorkerUnavailableError(
                f"Job {holder} scans the same at this moment",
                hint="Wait for its end, or terminate its run; then launch this one again",
            )
            expires_at = datetime.now(UTC) + timedelta(days=runtime.settings.job_retention_days)
            jobs.finish(
                runtime.control,
                job.job_id,
                "failed",
                error=error.to_document(),
                expires_at=expires_at,
            )
            raise error
        # Later requests for the same get the result of a scan that has begun with nothing. A result
        # that begins with an earlier state has old observations: it is no ranking of today.
        if state is None:
            jobs.set_target(runtime.control, job.job_id, music_id=job.music_id, scan_key=key)
    return LaunchedJob(job, partition, selected, state)


def _kind_of(run: DagsterRun, partition: str, graphs: Mapping[str, StepGraph]) -> str:
    if run.job_name in job_records.JOB_KINDS:
        return run.job_name
    if not partition.startswith(MUSIC_PARTITION):
        return job_records.KEYWORD_SEARCH
    # A launch of selected assets has Dagster's own job, so the assets decide the kind.
    discovers = any(
        key in graphs[job_records.DISCOVERY].assets for key in run.asset_selection or ()
    )
    return job_records.DISCOVERY if discovers else job_records.SCAN


def _selected_steps(run: DagsterRun, partition: str, graph: StepGraph) -> frozenset[str]:
    """Return the steps that a run executes.

    Raises:
        InvalidMusicInputError: The partition has no such steps.
    """
    # Steps are named by "Re-execute from failure", assets by a selection in the UI; a launched job
    # names neither and executes all.
    if run.step_keys_to_execute:
        return frozenset(map(_step_of, run.step_keys_to_execute)) & graph.needs.keys()
    if not run.asset_selection:
        return frozenset(graph.needs)
    foreign = sorted(key.to_user_string() for key in run.asset_selection - graph.assets.keys())
    if foreign:
        raise InvalidMusicInputError(
            f"{partition} has no {', '.join(foreign)} in one run with the other assets",
            hint="A search by name confirms nothing, and a discovery is a run of its own",
        )
    return frozenset(graph.assets[key] for key in run.asset_selection)


def _new_job(
    run: DagsterRun, kind: str, partition: str, earlier: Sequence[job_records.Job]
) -> NewJob:
    """Return the job to create, with the input and parameters of the newest one for the same.

    Raises:
        InvalidMusicInputError: No search of this name is known: the partition has only its hash.
    """
    music_id = (
        partition.removeprefix(MUSIC_PARTITION) if kind != job_records.KEYWORD_SEARCH else None
    )
    if not earlier and music_id is None:
        raise InvalidMusicInputError(
            f"The name behind {partition} is not known any more",
            hint="Search for the name again through the API, the console or the command line",
        )
    defaults = DiscoveryParameters() if kind == job_records.DISCOVERY else scan_parameters({})
    return NewJob(
        kind=kind,
        input=music_id or earlier[0].input,
        target=music_id or partition,
        music_id=music_id,
        parameters=earlier[0].parameters if earlier else defaults.to_document(),
        fingerprint=f"launchpad:{run.run_id}",  # nobody joins it: it may end before its result
        scan_key=None,
        origin="launchpad",
        priority=job_records.PRIORITY_INTERACTIVE,
        job_id=run.run_id,
    )
