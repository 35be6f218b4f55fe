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

from api.cli.http_job_client import HttpJobClient
from api.cli.interrupts import Interrupted
from api.cli.options import SandboxSeed, SandboxSize
from api.cli.processes.child_processes import ChildProcessGroup
from api.cli.processes.demo_data import WORLD, keep_tables
from api.cli.processes.demo_environment import DemoEnvironment
from api.cli.rendering.progress import ScanDisplay, follow_job
from api.cli.rendering.results import print_banner, print_judgement, print_result
from api.cli.terminal import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    as_typed,
    err,
    out,
    print_message,
    print_written,
    safe,
    show_document_error,
    show_error,
)
from api.services.evidence.report_evidence import ReportEvidence
from api.services.report.ground_truth import Judgement, judge, to_ground_truth_videos
from api.services.report.render import render_report
from pipelines.platform.providers import choose_profile, choose_stored_world
from pipelines.settings import Settings
from warehouse.extras import missing_libraries
from warehouse.records.errors import SametrackError
from warehouse.records.values import Document
from warehouse.records.worlds import OWN_WORLDS

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
    own_home = settings.data_home
    out_dir = out_dir or own_home / WORLD / "reports"
    cache = cache or own_home / WORLD / "cache" / "sounds"
    keep = keep or own_home
    print_banner(out)
    try:
        with TemporaryDirectory(prefix="sametrack-demo-") as home:
            with ChildProcessGroup() as process_group:
                process_group.remove_on_kill(Path(home))
                stage = DemoEnvironment(
                    process_group=process_group, home=Path(home), cache=cache, seed=seed, size=size
                )
                shown = _run_demo(stage)
            kept = not isinstance(shown, int) and keep_tables(Path(home), keep)
    except Interrupted as stop:
        print_message(f"[yellow]stopped[/] by {stop}; all processes have ended")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    if isinstance(shown, int):
        raise typer.Exit(shown)
    code = _report_result(shown, out_dir, f"demo-seed{seed}-size{size:g}")
    if kept:
        out.print(f"[green]kept[/] the job and its tables in {safe(keep)}; next:", soft_wrap=True)
        for command in next_steps(shown.job["job_id"], settings, keep):
            out.print(as_typed(f"  {safe(command)}"), soft_wrap=True)
    raise typer.Exit(code)


def next_steps(job_id: str, settings: Settings, keep: Path) -> list[str]:
    """Return commands that read what a demo has kept; each runs as it stands."""
    given = "" if keep == settings.data_home else f"DATA_HOME={shlex.quote(str(keep))} "
    try:
        chosen = choose_stored_world(settings.model_copy(update={"data_home": keep}))
        is_read = choose_profile(chosen).name == WORLD
    except SametrackError:  # several worlds, or a profile that cannot be read
        is_read = False
    if not is_read:
        has_own_world = settings.data_provider in OWN_WORLDS
        given += f"PROFILE={WORLD} " + "DATA_PROVIDER=vidplat-public " * has_own_world
    query = "select rank, aweme_id, link_type from marts.rankings order by rank limit 10"
    beginning = job_id[:ID_PREFIX]
    commands = ["jobs", f'sql "{query}"', f"trace {beginning}", f"report {beginning}"]
    if not missing_libraries("analysis"):
        commands.append("notebook")
    return [f"{given}sametrack {command}" for command in commands]


def _run_demo(stage: DemoEnvironment) -> DemoResult | int:
    """Run the scan and evaluate it; return an exit code if it has no result."""
    begun = monotonic()
    with err.status("starting the sandbox, the service and a worker"):
        stage.set_up()
        track = choose_track(stage.world("/_world/tracks?counts=0")["tracks"])
    print_message(f"input: [italic]{safe(track['prose'])}[/]")
    with HttpJobClient(stage.api_url, token=stage.token) as client:
        job = client.create(track["prose"], DEFAULT_PARAMETERS)
        print_message(
            f"job [bold]{safe(job['job_id'])}[/] at {safe(stage.api_url)}{safe(job['poll_url'])}"
        )
        with ScanDisplay() as display:
            job = follow_job(client, job, display, look=stage.look, held=stage.held)
    if job["status"] != "completed":
        return _unfinished(job, stage)
    videos = to_ground_truth_videos(stage.world(f"/_world/truth/{track['music_id']}"))
    confirmed, variants = stage.read_confirmed(job["job_id"])
    judgement = judge(track["music_id"], confirmed, variants, videos)
    cpu_s = stage.world("/_world/cpu")["total_s"]
    seconds = monotonic() - begun
    return DemoResult(job, judgement, stage.gather_pairs(job), seconds, cpu_s)


def choose_track[Track: Mapping[str, object]](tracks: Iterable[Track]) -> Track:
    """Return the track with the longest public list; the first one on a tie."""
    return max(tracks, key=lambda track: int(str(track["listed_count"])))


def _unfinished(job: Document, stage: DemoEnvironment) -> int:
    if job["status"] == "cancelled":
        print_message("[yellow]cancelled[/]")
        return EXIT_INTERRUPTED
    show_document_error(job["error"])
    stage.show_logs("worker")
    return EXIT_FAILED


def _report_result(shown: DemoResult, folder: Path, name: str) -> int:
    """Print and write the outcome; return the exit code."""
    print_result(out, shown.job["result"], rows=SHOWN_ROWS)
    print_judgement(out, shown.judgement)
    for path in write_files(shown, folder, name):
        print_written(path)
    out.print(
        f"[dim]{shown.seconds:.1f} s from start to result; the sandbox used "
        f"{shown.platform_cpu_s:.1f} s of CPU, mostly to render sounds[/]"
    )
    if shown.judgement.is_good:
        return 0
    show_error(
        "demo_goal_missed",
        "goals: every label true, no false match among videos matched by audio, and 95 % of the "
        "reachable videos found, both under the same music id and under others",
    )
    return EXIT_FAILED


def write_files(shown: DemoResult, folder: Path, name: str) -> tuple[Path, Path]:
    """Write the report as HTML, and the job with its evaluation as JSON.

    Raises:
        SametrackError: The folder is not writable.
    """
    page, data = folder / f"{name}.html", folder / f"{name}.json"
    report = render_report(shown.job, judgement=shown.judgement, pairs=shown.pairs)
    document = {"job": shown.job, "ground_truth": shown.judgement.to_document()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        page.write_text(report, encoding="utf-8")
        data.write_text(json.dumps(document, ensure_ascii=False, indent=1), encoding="utf-8")
    except OSError as error:
        raise SametrackError(f"{folder} cannot be written: {error.strerror}") from error
    return page, data
