"""Prints the progress and the report of a live check. Every text from outside passes `safe`."""

from rich import box
from rich.console import Console
from rich.table import Table

from api.cli.rendering.doctor import OUTCOMES
from api.cli.rendering.results import print_banner
from api.cli.terminal import err, safe
from pipelines.doctor.live_check.report import (
    describe_clock,
    describe_media,
    describe_page_view,
    describe_reason,
)
from pipelines.doctor.probes.probe_round import ProbeListener
from pipelines.documents.messages import counted
from pipelines.documents.stop_reasons import stop_message
from warehouse.records.health import SurfaceHealth
from warehouse.records.values import Document

_SHOWN = 200


class LiveCheckProgress:
    """One line per surface when it is settled; in a terminal also one while it is asked."""

    def __init__(self, console: Console = err) -> None:
        self._console = console

    def listener(self) -> ProbeListener:
        """Return the callbacks of a round."""
        return ProbeListener(asking=self._asking, found=self._found)

    def _asking(self, surface: str) -> None:
        if self._console.is_terminal:
            self._console.print(f"[dim]asking {safe(surface)} …[/]", end="\r")

    def _found(self, health: SurfaceHealth) -> None:
        reason = describe_reason(health.reason)
        why = f" [dim]{safe(reason, limit=_SHOWN)}[/]" if reason else ""
        took = f" [dim]{health.duration_ms:,} ms[/]" if health.request_count else ""
        line = f"{OUTCOMES[health.outcome]} {safe(health.surface)}{took}{why}"
        self._console.print(line, soft_wrap=True)


def print_live_check(console: Console, report: Document) -> None:
    """Print the whole report."""
    if report["is_demo_data"]:
        print_banner(console)
    _print_surfaces(console, report)
    for text in (
        describe_page_view(report["is_spider"]),
        describe_clock(report["clock_skew_s"]),
        describe_media(report).replace("`", ""),
    ):
        console.print(safe(text), soft_wrap=True)
    refused = {(met["host"], met["kind"]) for met in report["hosts"] if not met["is_permitted"]}
    for host, kind in sorted(refused):
        console.print(f"[yellow]refused {kind} host[/] {safe(host)}", soft_wrap=True)
    _print_patch(console, report)
    colour = "green" if report["exit_code"] == 0 else "yellow"
    console.print(
        f"[bold {colour}]{safe(report['verdict'])}[/] [dim]({report['took_s']:.1f} s, "
        f"{counted(report['requests'], 'request')}, exit status {report['exit_code']})[/]",
        soft_wrap=True,
    )
    console.print(f"written to {safe(report['folder'])}", soft_wrap=True)


def _print_surfaces(console: Console, report: Document) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("", no_wrap=True)
    table.add_column("surface", no_wrap=True)
    table.add_column("records", justify="right")
    table.add_column("known", justify="right")
    table.add_column("never known, and why", overflow="fold")
    for one in report["surfaces"]:
        known = "—" if one["completeness"] is None else f"{one['completeness']:.0%}"
        missing = [name for name, (count, _) in one["fields"].items() if count == 0]
        table.add_row(
            OUTCOMES[one["outcome"]],
            safe(one["surface"]),
            str(one["records"]),
            known,
            safe(_why(one) or ", ".join(missing), limit=_SHOWN),
        )
    console.print(f"[bold]Live check[/] [dim]profile {safe(report['profile'])}[/]")
    console.print(table)


def _why(one: Document) -> str:
    kind = one["error_type"]
    meaning = None if kind is None else stop_message(kind).en
    return ": ".join(part for part in (meaning, one["reason_words"]) if part)


def _print_patch(console: Console, report: Document) -> None:
    patch = report["patch"]
    if patch["is_empty"]:
        console.print("[green]no patch is proposed[/]: the profile fits what was answered")
    for change in patch["changes"]:
        console.print(f"[cyan]proposed[/] {safe(change)}", soft_wrap=True)
    for note in patch["notes"]:
        console.print(f"[dim]for you to decide: {safe(note)}[/]", soft_wrap=True)
