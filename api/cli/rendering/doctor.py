"""Prints the report of `sametrack doctor`, and its progress.

The checks are in `pipelines/doctor`. Every text from outside passes `safe`.
"""

from collections import Counter
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from api.cli.rendering.progress import LiveDisplay
from api.cli.rendering.results import print_banner
from api.cli.terminal import err, safe
from pipelines.documents.messages import STOPS
from warehouse.records.values import Document

if TYPE_CHECKING:
    from pipelines.doctor.documents import CheckResult
    from pipelines.doctor.health_check import ProbeState

STATES = {"ok": "[green]✓[/]", "warn": "[yellow]![/]", "fail": "[bold red]✗[/]"}
OUTCOMES = {
    "works": "[green]✓ works[/]",
    "refused": "[red]✗ refused[/]",
    "changed": "[magenta]≠ changed shape[/]",
    "unreachable": "[bold red]✗ unreachable[/]",
    "not_asked": "[yellow]– not asked[/]",
}
SHOWN_KEYS = 6
_AGES = ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s"))


class ExaminationProgress(Protocol):
    """A running examination."""

    @property
    def findings(self) -> "list[CheckResult]": ...

    @property
    def surfaces(self) -> "dict[str, ProbeState]": ...


class DoctorDisplay(LiveDisplay):
    """A live display of an examination."""

    def __init__(self, examination: ExaminationProgress, console: Console = err) -> None:
        super().__init__(console)
        self._examination = examination

    def update(self) -> None:
        """Update the display."""
        if not self._console.is_terminal:
            return
        # Copies: the thread of the examination changes both while this one reads them.
        checks = list(self._examination.findings)
        surfaces = dict(self._examination.surfaces)
        probing = [name for name, state in surfaces.items() if state == "asking"]
        # A state is a word, `waiting` or `asking`, until the probe has a result.
        unfinished = [name for name, state in surfaces.items() if isinstance(state, str)]
        head = Table.grid(padding=(0, 1))
        head.add_row(
            self._spinner,
            Text("checking this machine and the platform", style="bold"),
            Text(f"{monotonic() - self._begun_at:.0f} s", style="dim"),
        )
        results = " · ".join(f"{STATES[check.state]} {check.name}" for check in checks)
        counts = f"{len(surfaces) - len(unfinished)} of {len(surfaces)} surfaces"
        if probing:
            counts += f", probing {', '.join(probing)}"
        self._live.update(Group(head, Text.from_markup(f"  {results}"), Text(f"  {counts}")))


def print_report(console: Console, report: Document) -> None:
    """Print the whole report."""
    if report["is_demo_data"]:
        print_banner(console)
    # The checks of this machine, each with its advice
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_header=False, padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for check in report["machine"]:
        advice = f"\n[dim]→ {safe(check['advice'])}[/]" if check["advice"] else ""
        table.add_row(STATES[check["state"]], safe(check["name"]), f"{safe(check['says'])}{advice}")
    console.print("[bold]This machine[/]")
    console.print(table)
    # The surfaces of the platform, or how to choose a profile that has some
    if report["surfaces"]:
        _print_surfaces(console, report["surfaces"], profile=report["profile"])
        _print_host_policies(console, report)
    elif report["profile"] is None:
        console.print(
            "[bold]No platform profile is chosen[/], so no surface was probed. Choose one:"
        )
        console.print("  [bold]sametrack init[/] creates a .env file: profile, data home, token")
        console.print("  [bold]PROFILE=sandbox[/] the sandbox on this machine")
        console.print("  [bold]PROFILE=public[/] the public pages of the platform")
    colour = "green" if report["exit_code"] == 0 else "yellow"
    took = f"[dim]({report['took_s']:.1f} s, exit status {report['exit_code']})[/]"
    console.print(f"[bold {colour}]{safe(report['verdict'])}[/] {took}", soft_wrap=True)


def _print_surfaces(console: Console, surfaces: list[Document], *, profile: str) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("", no_wrap=True)
    table.add_column("surface", no_wrap=True)
    table.add_column("time", justify="right", no_wrap=True)
    table.add_column("last worked", justify="right", no_wrap=True)
    table.add_column("details", overflow="fold")
    # A row per surface: its outcome, and when it worked last
    now, printed = datetime.now(UTC), set[str]()
    for surface in surfaces:
        if surface["outcome"] == "works":
            age = "now"
        elif surface["last_worked_at"] is None:
            age = "never"
        else:
            worked_at = datetime.fromisoformat(surface["last_worked_at"])
            seconds = max(0, int((now - worked_at).total_seconds()))
            size, unit = next((entry for entry in _AGES if seconds >= entry[0]), _AGES[-1])
            age = f"{seconds // size} {unit} ago"
        table.add_row(
            OUTCOMES[surface["outcome"]],
            safe(surface["surface"]),
            f"{surface['duration_ms']:,} ms" if surface["request_count"] else "—",
            age,
            # The same advice often holds for several surfaces: it is printed once.
            _describe_surface(surface, with_advice=surface["advice"] not in printed),
        )
        printed.add(surface["advice"])
    console.print(f"[bold]Platform surfaces[/] [dim]profile {safe(profile)}[/]")
    console.print(table)


def _print_host_policies(console: Console, report: Document) -> None:
    """Print open circuits and the robots.txt decisions per host."""
    # A circuit that has closed again is of no interest.
    for circuit in report["circuits"]:
        if circuit["open_until"] is not None:
            until, cause = circuit["open_until"], circuit["cause"] or "failures"
            console.print(
                f"[yellow]paused until {safe(until)}[/]: {safe(circuit['surface'])} at "
                f"{safe(circuit['host'])}, after {circuit['failures']} consecutive failures "
                f"({safe(cause)})",
                soft_wrap=True,
            )
    # One line per host: there is a decision for each path that was asked for.
    by_host: dict[str, list[Document]] = {}
    for decision in report["robots"]:
        by_host.setdefault(decision["host"], []).append(decision)
    for host, decisions in by_host.items():
        counts = Counter(decision["decision"] for decision in decisions)
        summary = ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))
        console.print(f"[dim]robots.txt of {safe(host)}: {summary}[/]", soft_wrap=True)


def _describe_surface(surface: Document, *, with_advice: bool) -> str:
    """Describe a surface; if it fails, add the cause, the affected endpoints and the advice."""
    lines = [safe(surface["label"])]
    if surface["outcome"] != "works":
        # The cause in plain words, then its type and the HTTP status
        kind, reason = surface["error_type"], surface["reason_words"]
        meaning = STOPS[kind].en if kind in STOPS else None
        cause = ": ".join(safe(part) for part in (meaning, reason) if part)
        status = surface["http_status"] and f"HTTP {surface['http_status']}"
        marks = ", ".join(safe(mark) for mark in (kind, status) if mark)
        lines.append(f"[red]{cause}[/]" + (f" [dim]({marks})[/]" if marks else ""))
    elif surface["reason_words"]:
        lines.append(f"[dim]{safe(surface['reason_words'])}[/]")
    # Keys of the body that differ from the recorded shape
    for label, name in (("new keys", "keys_came"), ("missing keys", "keys_went")):
        paths = surface[name]
        if paths:
            more = len(paths) - SHOWN_KEYS
            keys = ", ".join(safe(path, limit=60) for path in paths[:SHOWN_KEYS])
            lines.append(f"[dim]{label}: {keys}{f' and {more} more' if more > 0 else ''}[/]")
    # What users notice: affected endpoints, or the surface that is read instead
    if surface["suffering"]:
        endpoints = (f"{entry['number']} {entry['short']}" for entry in surface["suffering"])
        lines.append(f"affected endpoints: {', '.join(endpoints)}")
    elif surface["read_instead"]:
        lines.append(f"no endpoint affected: {safe(surface['read_instead'])} is used instead")
    if surface["advice"] and with_advice:
        lines.append(f"[dim]→ {safe(surface['advice'])}[/]")
    return "\n".join(lines)
