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
from pipelines.documents.stop_reasons import STOPS
from warehouse.records.values import Document

if TYPE_CHECKING:
    from pipelines.doctor.check_results import CheckResult
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

    def __init__(self, course: ExaminationProgress, console: Console = err) -> None:
        super().__init__(console)
        self._course = course

    def update(self) -> None:
        """Update the display."""
        if self._console.is_terminal:
            self._live.update(self._block())

    def _block(self) -> Group:
        states = Counter(_state_of(state) for state in list(self._course.surfaces.values()))
        settled = sum(states.values()) - states["waiting"] - states["asking"]
        head = Table.grid(padding=(0, 1))
        head.add_row(
            self._spinner,
            Text("checking this machine and the platform", style="bold"),
            Text(f"{monotonic() - self._begun_at:.0f} s", style="dim"),
        )
        looks = " · ".join(f"{STATES[f.state]} {f.name}" for f in list(self._course.findings))
        asked = [name for name, state in self._course.surfaces.items() if state == "asking"]
        surfaces = f"{settled} of {len(self._course.surfaces)} surfaces"
        probing = f", probing {', '.join(asked)}" if asked else ""
        return Group(head, Text.from_markup(f"  {looks}"), Text(f"  {surfaces}{probing}"))


def print_report(console: Console, report: Document) -> None:
    """Print the whole report."""
    if report["is_demo_data"]:
        print_banner(console)
    _print_machine(console, report["machine"])
    if report["surfaces"]:
        _print_surfaces(console, report["surfaces"], profile=report["profile"])
        _print_rate_limits(console, report)
    elif report["profile"] is None:
        _print_profile_choices(console)
    colour = "green" if report["exit_code"] == 0 else "yellow"
    took = f"[dim]({report['took_s']:.1f} s, exit status {report['exit_code']})[/]"
    console.print(f"[bold {colour}]{safe(report['verdict'])}[/] {took}", soft_wrap=True)


def _print_machine(console: Console, findings: list[Document]) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_header=False, padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for finding in findings:
        advice = f"\n[dim]→ {safe(finding['advice'])}[/]" if finding["advice"] else ""
        table.add_row(
            STATES[finding["state"]], safe(finding["name"]), f"{safe(finding['says'])}{advice}"
        )
    console.print("[bold]This machine[/]")
    console.print(table)


def _print_surfaces(console: Console, surfaces: list[Document], *, profile: str) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("", no_wrap=True)
    table.add_column("surface", no_wrap=True)
    table.add_column("time", justify="right", no_wrap=True)
    table.add_column("last worked", justify="right", no_wrap=True)
    table.add_column("details", overflow="fold")
    now, printed = datetime.now(UTC), set[str]()
    for surface in surfaces:
        table.add_row(
            OUTCOMES[surface["outcome"]],
            safe(surface["surface"]),
            f"{surface['duration_ms']:,} ms" if surface["request_count"] else "—",
            "now" if surface["outcome"] == "works" else _age(surface["last_worked_at"], now),
            _describe_surface(surface, is_new=surface["advice"] not in printed),
        )
        printed.add(surface["advice"])
    console.print(f"[bold]Platform surfaces[/] [dim]profile {safe(profile)}[/]")
    console.print(table)


def _print_rate_limits(console: Console, report: Document) -> None:
    """Print open circuits and the robots.txt decisions per host."""
    for circuit in report["circuits"]:
        if circuit["open_until"] is not None:
            until, cause = circuit["open_until"], circuit["cause"] or "failures"
            console.print(
                f"[yellow]paused until {safe(until)}[/]: {safe(circuit['surface'])} at "
                f"{safe(circuit['host'])}, after {circuit['failures']} consecutive failures "
                f"({safe(cause)})",
                soft_wrap=True,
            )
    by_host: dict[str, list[Document]] = {}
    for decision in report["robots"]:
        by_host.setdefault(decision["host"], []).append(decision)
    for host, decisions in by_host.items():
        counted = Counter(decision["decision"] for decision in decisions)
        decided = ", ".join(f"{count} {word}" for word, count in sorted(counted.items()))
        console.print(f"[dim]robots.txt of {safe(host)}: {decided}[/]", soft_wrap=True)


def _describe_surface(surface: Document, *, is_new: bool) -> str:
    """Describe a surface; if it fails, add the cause, the affected endpoints and the advice."""
    lines = [safe(surface["label"])]
    if surface["outcome"] != "works":
        lines.append(_describe_cause(surface))
    elif surface["reason_words"]:
        lines.append(f"[dim]{safe(surface['reason_words'])}[/]")
    lines += [
        f"[dim]{word}: {_keys(surface[name])}[/]"
        for word, name in (("new keys", "keys_came"), ("missing keys", "keys_went"))
        if surface[name]
    ]
    if surface["suffering"]:
        lines.append(f"affected endpoints: {_endpoints(surface['suffering'])}")
    elif surface["read_instead"]:
        lines.append(f"no endpoint affected: {safe(surface['read_instead'])} is used instead")
    if surface["advice"] and is_new:
        lines.append(f"[dim]→ {safe(surface['advice'])}[/]")
    return "\n".join(lines)


def _describe_cause(surface: Document) -> str:
    """Return the cause in plain words, followed by the error type and the HTTP status."""
    kind, reason = surface["error_type"], surface["reason_words"]
    meaning = STOPS[kind].en if kind in STOPS else None
    cause = ": ".join(safe(part) for part in (meaning, reason) if part)
    marks = ", ".join(
        safe(mark)
        for mark in (kind, surface["http_status"] and f"HTTP {surface['http_status']}")
        if mark
    )
    return f"[red]{cause}[/]" + (f" [dim]({marks})[/]" if marks else "")


def _keys(paths: list[str]) -> str:
    more = len(paths) - SHOWN_KEYS
    shown = ", ".join(safe(path, limit=60) for path in paths[:SHOWN_KEYS])
    return f"{shown} and {more} more" if more > 0 else shown


def _endpoints(endpoints: list[Document]) -> str:
    return ", ".join(f"{entry['number']} {entry['short']}" for entry in endpoints)


def _age(moment: str | None, now: datetime) -> str:
    if moment is None:
        return "never"
    seconds = max(0, int((now - datetime.fromisoformat(moment)).total_seconds()))
    size, unit = next((entry for entry in _AGES if seconds >= entry[0]), _AGES[-1])
    return f"{seconds // size} {unit} ago"


def _print_profile_choices(console: Console) -> None:
    console.print("[bold]No platform profile is chosen[/], so no surface was probed. Choose one:")
    console.print("  [bold]sametrack init[/] creates a .env file: profile, data home, token")
    console.print("  [bold]PROFILE=sandbox[/] the sandbox on this machine")
    console.print("  [bold]PROFILE=public[/] the public pages of the platform")


def _state_of(state: object) -> str:
    return state if isinstance(state, str) else "settled"
