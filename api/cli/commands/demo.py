"""`sametrack demo`: a complete scan on this machine, compared with the ground truth.

Starts the sandbox, the service and a worker, submits a scan through the job API, prints and writes
the result with its precision and recall, and stops everything again. Its tables are kept for
analysis if there are none of a sandbox yet.
"""

import json
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Annotated

import typer

from api.cli import terminal
from api.cli.http_job_client import HttpJobClient
from api.cli.interrupts import Interrupted
from api.cli.options import SandboxSeed, SandboxSize
from api.cli.processes.child_processes import ChildProcessGroup
from api.cli.processes.demo_environment import WORLD, DemoEnvironment, keep_tables
from api.cli.rendering.progress import ScanDisplay, follow_job
from api.cli.rendering.results import print_banner, print_judgement, print_result
from api.services.evidence.report_evidence import ReportEvidence
from api.services.report.ground_truth import Judgement, judge, to_ground_truth_videos
from api.services.report.render import render_report
from pipelines.platform.providers import choose_profile, choose_stored_world
from pipelines.settings import Settings
from warehouse.extras import missing_libraries
from warehouse.home import OWN_WORLDS
from warehouse.records.errors import SametrackError
from warehouse.records.values import Document

DEFAULT_PARAMETERS: dict[str, object] = {}  # the scan must not use the ground truth
SHOWN_ROWS = 20
ID_PREFIX = 8

_Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        help="Folder for the report and the JSON file. Default: sandbox/reports in DATA_HOME.",
    ),
]
_Cache = Annotated[
    Path | None,
    typer.Option(
        "--cache",
        help="Folder for rendered sounds; it is kept. Default: sandbox/cache/sounds in DATA_HOME.",
    ),
]
_Keep = Annotated[
    Path | None,
    typer.Option(
        "--keep",
        help="Data home that keeps the tables, if it has no sandbox yet. Default: DATA_HOME.",
    ),
]


@dataclass(frozen=True, slots=True)
class DemoResult:
    """The outcome of a demo. `platform_cpu_s` is the CPU time of the sandbox, with rendering."""

    job: Document
    judgement: Judgement
    pairs: ReportEvidence
    seconds: float
    platform_cpu_s: float


def demo(
    *,
    seed: SandboxSeed = 7,
    size: SandboxSize = 0.3,
    out_dir: _Out = None,
    cache: _Cache = None,
    keep: _Keep = None,
) -> None:
    """Scan a track of the sandbox and compare the result with the ground truth."""
    settings = Settings()
    sandbox_home = settings.data_home / WORLD
    keep = keep or settings.data_home
    print_banner(terminal.out)
    try:
        with TemporaryDirectory(prefix="sametrack-demo-") as home:
            with ChildProcessGroup() as process_group:
                process_group.remove_on_kill(Path(home))
                environment = DemoEnvironment(
                    process_group=process_group,
                    home=Path(home),
                    cache=cache or sandbox_home / "cache" / "sounds",
                    seed=seed,
                    size=size,
                )
                result = _run_demo(environment)
            # The stores are copied when their processes have ended.
            is_kept = keep_tables(Path(home), keep)
    except Interrupted as stop:
        terminal.print_message(f"[yellow]stopped[/] by {stop}; all processes have ended")
        raise typer.Exit(terminal.EXIT_INTERRUPTED) from None

    print_result(terminal.out, result.job["result"], rows=SHOWN_ROWS)
    print_judgement(terminal.out, result.judgement)
    folder = out_dir or sandbox_home / "reports"
    for path in write_files(result, folder, f"demo-seed{seed}-size{size:g}"):
        terminal.print_written(path)
    terminal.out.print(
        f"[dim]{result.seconds:.1f} s from start to result; the sandbox used "
        f"{result.platform_cpu_s:.1f} s of CPU, mostly to render sounds[/]"
    )
    if not result.judgement.is_good:
        terminal.show_error(
            "demo_goal_missed",
            "goals: every label true, no false match among videos matched by audio, and 95 % of "
            "the reachable videos found, both under the same music id and under others",
        )
    if is_kept:
        terminal.out.print(
            f"[green]kept[/] the job and its tables in {terminal.safe(keep)}; next:", soft_wrap=True
        )
        for command in next_steps(result.job["job_id"], settings, keep):
            terminal.out.print(terminal.as_typed(f"  {terminal.safe(command)}"), soft_wrap=True)
    raise typer.Exit(0 if result.judgement.is_good else terminal.EXIT_FAILED)


def _run_demo(environment: DemoEnvironment) -> DemoResult:
    """Run the scan of the track with the longest list, and compare it with the ground truth.

    Raises:
        typer.Exit: The scan has no result: it was cancelled (130), or it failed (1).
    """
    begun = monotonic()
    # Start all three programs; the input is the text with a link that a user would paste.
    with terminal.err.status("starting the sandbox, the service and a worker"):
        environment.set_up()
        track = choose_track(environment.world("/_world/tracks?counts=0")["tracks"])
    terminal.print_message(f"input: [italic]{terminal.safe(track['prose'])}[/]")
    # Scan through the job API, as a user does.
    with HttpJobClient(environment.api_url, token=environment.token) as client:
        job = client.create(track["prose"], DEFAULT_PARAMETERS)
        address = f"{environment.api_url}{job['poll_url']}"
        terminal.print_message(
            f"job [bold]{terminal.safe(job['job_id'])}[/] at {terminal.safe(address)}"
        )
        with ScanDisplay() as display:
            job = follow_job(client, job, display, look=environment.look, held=environment.held)
    if job["status"] == "cancelled":
        terminal.print_message("[yellow]cancelled[/]")
        raise typer.Exit(terminal.EXIT_INTERRUPTED)
    if job["status"] != "completed":
        terminal.show_document_error(job["error"])
        environment.show_logs("worker")
        raise typer.Exit(terminal.EXIT_FAILED)
    # Only now is the ground truth read: the scan must not use it.
    videos = to_ground_truth_videos(environment.world(f"/_world/truth/{track['music_id']}"))
    confirmed, variants = environment.read_confirmed(job["job_id"])
    return DemoResult(
        job=job,
        judgement=judge(track["music_id"], confirmed, variants, videos),
        pairs=environment.gather_pairs(job),
        seconds=monotonic() - begun,
        platform_cpu_s=environment.world("/_world/cpu")["total_s"],
    )


def choose_track[Track: Mapping[str, object]](tracks: Iterable[Track]) -> Track:
    """Return the track with the longest public list; the first one on a tie."""
    return max(tracks, key=lambda track: int(str(track["listed_count"])))


def write_files(result: DemoResult, folder: Path, name: str) -> tuple[Path, Path]:
    """Write the report as HTML, and the job with its evaluation as JSON.

    Raises:
        SametrackError: The folder is not writable.
    """
    # The page for people, the document for programs
    page, data = folder / f"{name}.html", folder / f"{name}.json"
    report = render_report(result.job, judgement=result.judgement, pairs=result.pairs)
    document = {"job": result.job, "ground_truth": result.judgement.to_document()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        page.write_text(report, encoding="utf-8")
        data.write_text(json.dumps(document, ensure_ascii=False, indent=1), encoding="utf-8")
    except OSError as error:
        raise SametrackError(f"{folder} cannot be written: {error.strerror}") from error
    return page, data


def next_steps(job_id: str, settings: Settings, keep: Path) -> list[str]:
    """Return commands that read what a demo has kept; each runs as it stands."""
    variables = "" if keep == settings.data_home else f"DATA_HOME={shlex.quote(str(keep))} "
    # Variables are named only if the command would not read the demo's data without them.
    try:
        chosen = choose_stored_world(settings.model_copy(update={"data_home": keep}))
        is_read = choose_profile(chosen).name == WORLD
    except SametrackError:  # several worlds, or a profile that cannot be read
        is_read = False
    if not is_read:
        has_own_world = settings.data_provider in OWN_WORLDS
        variables += f"PROFILE={WORLD} " + "DATA_PROVIDER=vidplat-public " * has_own_world
    query = "select rank, aweme_id, link_type from marts.rankings order by rank limit 10"
    beginning = job_id[:ID_PREFIX]
    commands = ["jobs", f'sql "{query}"', f"trace {beginning}", f"report {beginning}"]
    if not missing_libraries("analysis"):
        commands.append("notebook")
    return [f"{variables}sametrack {command}" for command in commands]
