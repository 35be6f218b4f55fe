"""The table of commands. A command's module is imported when it is called, so `--help` is fast."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, override

import typer
from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:  # Typer exports these types under private names alone
    from typer._click.core import Command, Context
    from typer._click.formatting import HelpFormatter

SCAN, READ, ANALYSE, RUN, MAINTAIN = "Scan", "Read", "Analyse", "Run", "Maintain"


@dataclass(frozen=True)
class CommandEntry:
    """One command or group of commands.

    Attributes:
        name: What the user types.
        panel: Heading under which `--help` lists it; None hides it.
        place: `module:attribute` below `api.cli.commands`, a function or a `typer.Typer`.
        summary: Its line in `--help`, the first line of its own help.
    """

    name: str
    panel: str | None
    place: str
    summary: str

    @cached_property
    def listed(self) -> "Command":
        """What `--help` lists; imports nothing."""
        return TyperCommand(
            self.name,
            help=self.summary,
            rich_help_panel=self.panel,
            hidden=self.panel is None,
        )

    @cached_property
    def loaded(self) -> "Command":
        """The command itself, imported."""
        module, _, attribute = self.place.partition(":")
        found: typer.Typer | Callable[..., object] = getattr(
            import_module(f"api.cli.commands.{module}"), attribute
        )
        if isinstance(found, typer.Typer):
            group = typer.main.get_group(found)
            group.name = self.name
            return group
        single = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        single.command(self.name)(found)
        return typer.main.get_command(single)


COMMANDS = (
    CommandEntry("scan", SCAN, "scan:scan", "Find, verify and rank the videos that use a track."),
    CommandEntry("jobs", SCAN, "jobs:app", "List, show and cancel jobs."),
    CommandEntry(
        "watchlist",
        SCAN,
        "watchlist:app",
        "Watchlists: list, add, remove, enable, disable, run, apply, runs, digest.",
    ),
    CommandEntry(
        "catalog",
        SCAN,
        "catalog:app",
        "Catalogues of up to 10,000 tracks: import, run, cancel, status, report, list, remove.",
    ),
    CommandEntry(
        "report",
        SCAN,
        "report:report",
        "Write the report of a notebook or a job as one self-contained HTML file.",
    ),
    CommandEntry(
        "demo",
        SCAN,
        "demo:demo",
        "Scan a track of the sandbox and compare the result with the ground truth.",
    ),
    CommandEntry("audio", SCAN, "audio.compare:audio_app", "Compare sound files."),
    CommandEntry("user", READ, "operations:user", "Accounts: id, profile, posts, metrics."),
    CommandEntry("music", READ, "operations:music", "Tracks: list, hot, batch, discover."),
    CommandEntry("hashtag", READ, "operations:hashtag", "Hashtags: list."),
    CommandEntry("videos", READ, "operations:videos", "Show videos by id, with all four counts."),
    CommandEntry(
        "chart",
        READ,
        "chart:app",
        "The chart: history, backfill, judge, song, link, unlink, withdraw, links.",
    ),
    CommandEntry(
        "search",
        READ,
        "operations:search",
        "The platform's search, which demands verification: always refused.",
    ),
    CommandEntry(
        "sql",
        ANALYSE,
        "sql:sql",
        "Query the tables raw.*, marts.* and seen.* of docs/data-dictionary.md.",
    ),
    CommandEntry(
        "query",
        ANALYSE,
        "query:query",
        "Run a named query of the library; `--list` shows all with their parameters.",
    ),
    CommandEntry(
        "notebook",
        ANALYSE,
        "notebook.notebook:notebook",
        "Open the notebooks in JupyterLab, on loopback, with the data of the settings.",
    ),
    CommandEntry(
        "export",
        ANALYSE,
        "export:export",
        "Export a table as CSV, Parquet, XLSX, or as a data package with its documentation.",
    ),
    CommandEntry(
        "database",
        ANALYSE,
        "system.database:database",
        "Write all marts to one DuckDB file, with a comment on every table and column.",
    ),
    CommandEntry(
        "trace",
        ANALYSE,
        "trace:trace",
        "Show the bodies and sounds behind a row of a ranking, and whether their hashes hold.",
    ),
    CommandEntry(
        "init",
        RUN,
        "system.init:init",
        "Write a first .env with profile, data home and token. Asks in an interactive terminal.",
    ),
    CommandEntry(
        "up",
        RUN,
        "system.up:up",
        "Start all services, print their addresses, and stop them on Ctrl-C.",
    ),
    CommandEntry("serve", RUN, "system.services:serve", "Serve the HTTP API and the console."),
    CommandEntry("worker", RUN, "system.services:worker", "Run queued jobs until stopped."),
    CommandEntry(
        "sandbox",
        RUN,
        "system.services:sandbox",
        "Serve the sandbox: a simulated platform with generated audio, on loopback.",
    ),
    CommandEntry(
        "mcp", RUN, "mcp:mcp", "Serve Model Context Protocol tools over stdin and stdout."
    ),
    CommandEntry(
        "openapi",
        RUN,
        "system.openapi:openapi",
        "Print the OpenAPI 3.1.0 description of the HTTP API.",
    ),
    CommandEntry(
        "backup",
        MAINTAIN,
        "system.backup:backup",
        "Back up control store, Dagster storage and lake. Other processes may keep writing.",
    ),
    CommandEntry(
        "restore",
        MAINTAIN,
        "system.backup:restore",
        "Restore a backup as the data home of the chosen profile. Never overwrites files.",
    ),
    CommandEntry(
        "doctor",
        MAINTAIN,
        "system.doctor:doctor",
        "Check this machine and every platform surface, with advice for each problem.",
    ),
    CommandEntry(
        "replay",
        MAINTAIN,
        "system.replay:replay",
        "Parse the archive with the current parsers and show the differences. Offline.",
    ),
    CommandEntry(
        "erase",
        MAINTAIN,
        "system.erase:erase",
        "Erase an account from tables, payloads, results, reports and caches. Irreversible.",
    ),
    CommandEntry(
        "maintain",
        MAINTAIN,
        "system.maintain:maintain",
        "Delete expired data, and compact and sort tables.",
    ),
    CommandEntry(
        "dagster-ui",
        None,
        "system.services:dagster_ui",
        "Serve the Dagster UI behind the access policy (started by `sametrack up`).",
    ),
)
BY_NAME = {entry.name: entry for entry in COMMANDS}


class CommandGroup(TyperGroup):
    """The commands of `COMMANDS`: listed from the table, imported when called."""

    def __init__(self, **options: Any) -> None:  # passed on: Typer's own options of any type
        super().__init__(**options)
        self.commands: dict[str, Command] = {entry.name: entry.listed for entry in COMMANDS}
        self._is_listing = False

    @override
    def get_command(self, ctx: "Context", cmd_name: str) -> "Command | None":
        if self._is_listing or cmd_name not in BY_NAME:
            return super().get_command(ctx, cmd_name)
        return BY_NAME[cmd_name].loaded

    @override
    def format_help(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        with self._listing():
            super().format_help(ctx, formatter)

    @contextmanager
    def _listing(self) -> Iterator[None]:
        self._is_listing = True
        try:
            yield
        finally:
            self._is_listing = False
