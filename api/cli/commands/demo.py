"""`sametrack demo`: the whole way on one machine, from a pasted link to the judged ranking.

Starts the stand-in platform, the service and a worker, hands in a scan by the job API, shows and
writes the result, compares it with the world's truth, and stops everything it started.
"""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Annotated, Any

import typer

from api.cli.interrupts import Interrupted
from api.cli.job_client import HttpDesk
from api.cli.processes.child_processes import Household
from api.cli.processes.demo_environment import DemoStage
from api.cli.rendering.progress import ScanDisplay, follow
from api.cli.rendering.results import print_banner, print_judgement, print_result
from api.cli.terminal import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    err,
    out,
    safe,
    say,
    show_document_error,
    show_error,
)
from api.services.evidence.report_evidence import GatheredPairs
from api.services.report.ground_truth import Judgement, judge, to_true_videos
from pipelines.documents.videos import Document
from warehouse.records.errors import SametrackError

DEFAULT_PARAMETERS: dict[str, object] = {}  # a scan knows nothing of the truth, not even counts
SHOWN_ROWS = 20

_Seed = Annotated[int, typer.Option(help="Which world.")]
_Size = Annotated[float, typer.Option(min=0.05, max=40, help="How large; 1 has 5,000 videos.")]
_Out = Annotated[Path, typer.Option("--out", help="Folder of the report and the JSON.")]
_Cache = Annotated[Path, typer.Option("--cache", help="Folder of rendered sounds, kept.")]


@dataclass(frozen=True, slots=True)
class Shown:
    """What a demo brought: the finished job, how it compares with the truth, its compared pairs,
    how long it took, and how much the stand-in platform itself worked, rendering sound included.
    """

    job: Document
    judgement: Judgement
    pairs: GatheredPairs
    seconds: float
    platform_cpu_s: float


def demo(
    *,
    seed: _Seed = 7,
    size: _Size = 0.3,
    out_dir: _Out = Path("warehouse/data/sandbox/reports"),
    cache: _Cache = Path("warehouse/data/sandbox/cache/sounds"),
) -> None:
    """Scan a demo track of the stand-in platform and hold the result against its truth."""
    print_banner(out)
    try:
        with TemporaryDirectory(prefix="sametrack-demo-") as home, Household() as household:
            household.remove_if_killed(Path(home))
            stage = DemoStage(
                household=household, home=Path(home), cache=cache, seed=seed, size=size
            )
            shown = _play(stage)
    except Interrupted as stop:
        say(f"[yellow]stopped[/] by {stop}; nothing is left running")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    if isinstance(shown, int):
        raise typer.Exit(shown)
    raise typer.Exit(_conclude(shown, out_dir, f"demo-seed{seed}-size{size:g}"))


def _play(stage: DemoStage) -> Shown | int:
    """Set up, scan, judge; an exit code when the scan brought no result."""
    begun = monotonic()
    with err.status("setting up the stand-in platform, the service and a worker"):
        stage.set_up()
        track = choose_track(stage.world("/_world/tracks?counts=0")["tracks"])
    say(f"pasted: [italic]{safe(track['prose'])}[/]")
    desk = HttpDesk(stage.api_url, token=stage.token)
    job = desk.create(track["prose"], DEFAULT_PARAMETERS)
    say(f"job [bold]{safe(job['job_id'])}[/] at {safe(stage.api_url)}{safe(job['poll_url'])}")
    with ScanDisplay() as display:
        job = follow(desk, job, display, look=stage.look, held=stage.held)
    if job["status"] != "completed":
        return _unfinished(job, stage)
    videos = to_true_videos(stage.world(f"/_world/truth/{track['music_id']}"))
    confirmed, variants = stage.read_confirmed(job["job_id"])
    judgement = judge(track["music_id"], confirmed, variants, videos)
    cpu_s = stage.world("/_world/cpu")["total_s"]
    seconds = monotonic() - begun
    return Shown(job, judgement, stage.gather_pairs(job), seconds, cpu_s)


def choose_track(tracks: list[dict[str, Any]]) -> dict[str, Any]:
    """The track with the longest public list, as anybody could choose it; the first of equals."""
    return max(tracks, key=lambda track: int(track["listed_count"]))


def _unfinished(job: Document, stage: DemoStage) -> int:
    if job["status"] == "cancelled":
        say("[yellow]cancelled[/]")
        return EXIT_INTERRUPTED
    show_document_error(job["error"])
    stage.show_logs("worker")
    return EXIT_FAILED


def _conclude(shown: Shown, folder: Path, name: str) -> int:
    """Print and write everything; returns the exit code."""
    print_result(out, shown.job["result"], rows=SHOWN_ROWS)
    print_judgement(out, shown.judgement)
    for path in write_files(shown, folder, name):
        out.print(f"[green]written[/] {safe(path)}", soft_wrap=True)
    out.print(
        f"[dim]{shown.seconds:.1f} s from start to result; the stand-in platform itself used "
        f"{shown.platform_cpu_s:.1f} s of CPU, mostly to make its sounds[/]"
    )
    if shown.judgement.is_good:
        return 0
    show_error(
        "demo_goal_missed",
        "what was matched by audio itself must be right, and of the reachable videos 95 % be found "
        "under the own music id and under others",
    )
    return EXIT_FAILED


def write_files(shown: Shown, folder: Path, name: str) -> tuple[Path, Path]:
    """The report as HTML, and job with judgement as JSON.

    Raises:
        SametrackError: The folder cannot be written.
    """
    import json  # noqa: PLC0415 -- with the report, only when there is something to write

    from api.services.report.render import render_report  # noqa: PLC0415 -- jinja2 costs 0.1 s

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
