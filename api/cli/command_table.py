"""The table of commands. A command's module is imported when it is called, so `--help` is fast."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, override

import typer
from typer.core import TyperCommand, TyperGroup

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
    def listed(self) -> Any:
        """What `--help` lists; imports nothing."""
        return TyperCommand(
            self.name,
            help=self.summary,
            rich_help_panel=self.panel,
            hidden=self.panel is None,
        )

    @cached_property
    def loaded(self) -> Any:
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
    CommandEntry("scan", SCAN, "scan:scan", ""),
    CommandEntry("jobs", SCAN, "jobs:app", ""),
    CommandEntry("watchlist", SCAN, "watchlist:app", ""),
    CommandEntry("report", SCAN, "report:report", ""),
    CommandEntry("demo", SCAN, "demo:demo", ""),
    CommandEntry("audio", SCAN, "audio.compare:audio_app", ""),
    CommandEntry("user", READ, "users:app", ""),
    CommandEntry("music", READ, "lists:music", ""),
    CommandEntry("hashtag", READ, "lists:hashtag", ""),
    CommandEntry("videos", READ, "lists:videos", ""),
    CommandEntry("chart", READ, "chart:app", ""),
    CommandEntry("search", READ, "lists:search", ""),
    CommandEntry("sql", ANALYSE, "sql:sql", ""),
    CommandEntry("export", ANALYSE, "export:export", ""),
    CommandEntry("database", ANALYSE, "system.database:database", ""),
    CommandEntry("init", RUN, "system.init:init", ""),
    CommandEntry("up", RUN, "system.up:up", ""),
    CommandEntry("serve", RUN, "system.services:serve", ""),
    CommandEntry("worker", RUN, "system.services:worker", ""),
    CommandEntry("sandbox", RUN, "system.services:sandbox", ""),
    CommandEntry("mcp", RUN, "mcp:mcp", ""),
    CommandEntry("openapi", RUN, "system.openapi:openapi", ""),
    CommandEntry("backup", MAINTAIN, "system.backup:backup", ""),
    CommandEntry("restore", MAINTAIN, "system.backup:restore", ""),
    CommandEntry("doctor", MAINTAIN, "system.doctor:doctor", ""),
    CommandEntry("replay", MAINTAIN, "system.replay:replay", ""),
    CommandEntry("erase", MAINTAIN, "system.erase:erase", ""),
    CommandEntry("maintain", MAINTAIN, "system.maintain:maintain", ""),
    CommandEntry("dagster-ui", None, "system.services:dagster_ui", ""),
)
BY_NAME = {entry.name: entry for entry in COMMANDS}


class CommandGroup(TyperGroup):
    """The commands of `COMMANDS`: listed from the table, imported when called."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.commands = {entry.name: entry.listed for entry in COMMANDS}
        self._is_listing = False

    @override
    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if self._is_listing or cmd_name not in BY_NAME:
            return super().get_command(ctx, cmd_name)
        return BY_NAME[cmd_name].loaded

    @override
    def format_help(self, ctx: Any, formatter: Any) -> None:
        with self._listing():
            super().format_help(ctx, formatter)

    @contextmanager
    def _listing(self) -> Iterator[None]:
        self._is_listing = True
        try:
            yield
        finally:
            self._is_listing = False
