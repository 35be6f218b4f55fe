"""The table of commands. A command's module is imported when it is called, so `--help` is fast."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, override

import typer
from typer.core import TyperCommand, TyperGroup


@dataclass(frozen=True)
class CommandEntry:
    """One command or group of commands.

    Attributes:
        name: What the user types.
        panel: Heading under which `--help` lists it; None hides it.
        target: `module:attribute`, a function or a `typer.Typer`; relative to `api.cli.commands`.
        summary: Its line in `--help`, the first line of its own help.
    """

    name: str
    panel: str | None
    target: str
    summary: str

    @cached_property
    def listed(self) -> TyperCommand:
        """What `--help` lists; imports nothing."""
        return TyperCommand(
            self.name,
            help=self.summary,
            rich_help_panel=self.panel,
            hidden=self.panel is None,
        )

    @cached_property
    def loaded(self) -> TyperCommand | TyperGroup:
        """The command itself, imported."""
        module, _, attribute = self.target.partition(":")
        target: typer.Typer | Callable[..., object] = getattr(
            import_module(module, "api.cli.commands"), attribute
        )
        if isinstance(target, typer.Typer):
            group = typer.main.get_group(target)
            group.name = self.name
            return group
        # Typer converts functions only as commands of an application.
        single = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        single.command(self.name)(target)
        command = typer.main.get_command(single)
        assert isinstance(command, TyperCommand), "it has one command"
        return command


PANELS: dict[str | None, dict[str, tuple[str, str]]] = {
    "Scan": {
        "scan": (".scan:scan", "Find, verify and rank the videos that use a track."),
        "jobs": (".jobs:app", "List, show and cancel jobs."),
        "watchlist": (
            ".watchlist:app",
            "Watchlists: list, add, remove, enable, disable, run, apply, runs, digest.",
        ),
        "alerts": (".alerts:app", "Alerts: list, add, test, remove channels."),
        "catalog": (
            ".catalog:app",
            "Catalogues of up to 10,000 tracks: import, run, cancel, status, report, list, remove.",
        ),
        "report": (
            ".report:report",
            "Write the report of a notebook, a job or a track as one self-contained HTML file.",
        ),
        "link": (
            ".link:app",
            "Read-only links to results and tracks, for readers without a token.",
        ),
        "demo": (
            ".demo:demo",
            "Scan a track of the sandbox and compare the result with the ground truth.",
        ),
        "audio": (".audio.compare:audio_app", "Compare sound files."),
    },
    "Read": {
        "user": (".operations:user", "Accounts: id, profile, posts, metrics."),
        "track": (
            ".track:track",
            "Show the page of a track: usage count over time, scans, creators, regions, variants.",
        ),
        "music": (".operations:music", "Tracks: list, hot, batch, discover."),
        "hashtag": (".operations:hashtag", "Hashtags: list."),
        "videos": (".operations:videos", "Show videos by id, with all four counts."),
        "chart": (
            ".chart:app",
            "The chart: history, backfill, judge, song, link, unlink, withdraw, links.",
        ),
        "search": (
            ".operations:search",
            "The platform's search, which demands verification: always refused.",
        ),
    },
    "Analyse": {
        "sql": (
            ".analysis.query:sql",
            "Query the tables raw.*, marts.* and seen.* of docs/data-dictionary.md.",
        ),
        "query": (
            ".analysis.query:query",
            "Run a named query of the library; `--list` shows all with their parameters.",
        ),
        "notebook": (
            ".analysis.notebook:notebook",
            "Open the notebooks in JupyterLab, on loopback, with the data of the settings.",
        ),
        "export": (
            ".analysis.export:export",
            "Export a table as CSV, Parquet, XLSX, or as a data package with its documentation.",
        ),
        "database": (
            ".system.database:database",
            "Write all marts to one DuckDB file, with a comment on every table and column.",
        ),
        "trace": (
            ".analysis.trace:trace",
            "Show the bodies and sounds behind a row of a ranking, and whether their hashes hold.",
        ),
    },
    "Run": {
        "init": (
            ".system.init:init",
            (
                "Write a first .env with profile, data home and token. "
                "Asks in an interactive terminal."
            ),
        ),
        "up": (
            ".system.up:up",
            "Start all services, print their addresses, and stop them on Ctrl-C.",
        ),
        "serve": (".system.services:serve", "Serve the HTTP API and the console."),
        "worker": (".system.services:worker", "Run queued jobs until stopped."),
        "sandbox": (
            "sandbox.command:sandbox",
            "Serve the sandbox: a simulated platform with generated audio, on loopback.",
        ),
        "dagster-home": (
            ".system.dagster_home:dagster_home",
            (
                "Write Dagster's configuration for the chosen world, create its storage, print its "
                "folder."
            ),
        ),
        "mcp": (".mcp:mcp", "Serve Model Context Protocol tools over stdin and stdout."),
        "openapi": (
            ".system.openapi:openapi",
            "Print the OpenAPI 3.1.0 description of the HTTP API.",
        ),
    },
    "Maintain": {
        "backup": (
            ".system.backup:backup",
            "Back up control store, Dagster storage and lake. Other processes may keep writing.",
        ),
        "restore": (
            ".system.backup:restore",
            "Restore a backup as the data home of the chosen profile. Never overwrites files.",
        ),
        "doctor": (
            ".system.doctor:doctor",
            "Check this machine and every platform surface, with advice for each problem.",
        ),
        "replay": (
            ".system.replay:replay",
            "Parse the archive with the current parsers and show the differences. Offline.",
        ),
        "parse": (
            ".parse:parse",
            (
                "Print what the parsers make of one body: its records, or the refusal that it is. "
                "Offline."
            ),
        ),
        "erase": (
            ".system.erase:erase",
            "Erase an account from tables, payloads, results, reports and caches. Irreversible.",
        ),
        "maintain": (
            ".system.maintain:maintain",
            "Delete expired data, and compact and sort tables.",
        ),
    },
    None: {
        "dagster-ui": (
            ".system.dagster_ui:dagster_ui",
            "Serve the Dagster UI behind the access policy (started by `sametrack up`).",
        ),
    },
}
"""Target and summary of each command, by the panel of `--help` that lists it; None: hidden."""
COMMANDS = tuple(
    CommandEntry(name, panel, target, summary)
    for panel, entries in PANELS.items()
    for name, (target, summary) in entries.items()
)
BY_NAME = {entry.name: entry for entry in COMMANDS}


class CommandGroup(TyperGroup):
    """The commands of `COMMANDS`: listed from the table, imported when called."""

    def __init__(self, **options: Any) -> None:  # passed on: Typer's own options of any type
        super().__init__(**options)
        self.commands.update({entry.name: entry.listed for entry in COMMANDS})

    # Typer has no public names for the types of its commands and contexts.
    # Only now is the module of the command imported.
    @override
    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        return name, BY_NAME[name].loaded if name in BY_NAME else command, rest
