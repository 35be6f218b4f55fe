"""Entry of the `sametrack` command: registers the commands and turns errors into one line.

No command's work belongs here.
"""

import os
import sys
from importlib import import_module
from typing import Any, override

import typer
from typer.core import TyperGroup

from api.cli.caller import TRACE
from api.cli.commands import chart, demo, export, jobs, lists, report, scan, sql, users, watchlist
from api.cli.commands import mcp as assistant
from api.cli.commands.system import (
    backup,
    database,
    doctor,
    erase,
    init,
    maintain,
    replay,
    services,
    up,
)
from api.cli.commands.system import openapi as describing
from api.cli.processes.child_processes import Interrupted
from api.cli.terminal import (
    EXIT_FAILED,
    EXIT_INPUT,
    EXIT_INTERRUPTED,
    exit_code,
    show_error,
)
from warehouse.records.errors import SametrackError

LATE_GROUPS = {"audio": ("api.cli.commands.audio.compare", "audio_app")}
"""Groups whose modules load numeric libraries: imported when invoked, not to print a help text."""


class LateGroup(TyperGroup):
    """A command group that imports `LATE_GROUPS` only when one of them is called."""

    @override
    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        if args and args[0] in LATE_GROUPS:
            module, name = LATE_GROUPS[args[0]]
            command = typer.main.get_command(getattr(import_module(module), name))
            return args[0], command, args[1:]
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="sametrack",
    cls=LateGroup,
    help="Find the public videos that really carry a recording: confirmed by listening, ranked "
    "by engagement, honest about what was not seen.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
SCANS = "Find the works that use a track"
READS = "Ask one thing"
KEEPING = "Look after it"
ANALYSING = "Analyse it"
RUNNING = "Run it"

app.command("scan", rich_help_panel=SCANS)(scan.scan)
app.add_typer(jobs.app, name="jobs", rich_help_panel=SCANS)
app.add_typer(watchlist.app, name="watchlist", rich_help_panel=SCANS)
app.command("report", rich_help_panel=SCANS)(report.report)
app.command("demo", rich_help_panel=SCANS)(demo.demo)
app.add_typer(
    typer.Typer(help="Listen to files of your own.", no_args_is_help=True),
    name="audio",
    rich_help_panel=SCANS,
)
app.add_typer(users.app, name="user", rich_help_panel=READS)
app.add_typer(lists.music, name="music", rich_help_panel=READS)
app.add_typer(lists.hashtag, name="hashtag", rich_help_panel=READS)
app.command("videos", rich_help_panel=READS)(lists.videos)
app.add_typer(chart.app, name="chart", rich_help_panel=READS)
app.add_typer(lists.search, name="search", rich_help_panel=READS)
app.command("sql", rich_help_panel=ANALYSING)(sql.sql)
app.command("export", rich_help_panel=ANALYSING)(export.export)
app.command("database", rich_help_panel=ANALYSING)(database.database)
app.command("init", rich_help_panel=RUNNING)(init.init)
app.command("up", rich_help_panel=RUNNING)(up.up)
app.command("serve", rich_help_panel=RUNNING)(services.serve)
app.command("worker", rich_help_panel=RUNNING)(services.worker)
app.command("sandbox", rich_help_panel=RUNNING)(services.sandbox)
app.command("mcp", rich_help_panel=RUNNING)(assistant.mcp)
app.command("openapi", rich_help_panel=RUNNING)(describing.openapi)
app.command("backup", rich_help_panel=KEEPING)(backup.backup)
app.command("restore", rich_help_panel=KEEPING)(backup.restore)
app.command("doctor", rich_help_panel=KEEPING)(doctor.doctor)
app.command("replay", rich_help_panel=KEEPING)(replay.replay)
app.command("erase", rich_help_panel=KEEPING)(erase.erase)
app.command("maintain", rich_help_panel=KEEPING)(maintain.maintain)
app.command("dagster-ui", hidden=True)(services.dagster_ui)


@app.callback()
def _root() -> None:
    """Keeps `audio` in the list of commands although its group is empty here."""


def main() -> None:
    """Run the command line; an error is one red line, never a stack trace."""
    try:
        app()
    except SametrackError as error:
        show_error(error.type, error.detail, error.hint)
        sys.exit(exit_code(error))
    except (KeyboardInterrupt, Interrupted):
        sys.exit(EXIT_INTERRUPTED)
    except Exception as error:
        if TRACE in os.environ:
            raise
        sys.exit(_show_unforeseen(error))


def _show_unforeseen(error: Exception) -> int:
    """A wrong setting, or a fault of ours; returns the exit code."""
    if type(error).__name__ == "ValidationError" and hasattr(error, "errors"):
        for wrong in error.errors():  # pydantic, which is not loaded here; `input` may be a secret
            name = "_".join(map(str, wrong["loc"])).upper() or "a setting"
            show_error("invalid_parameter", f"{name}: {wrong['msg']}", "see .env.example")
        return EXIT_INPUT
    detail = f"{type(error).__name__}: {error}"
    show_error("internal_error", detail, f"set {TRACE}=1 to see where it happened")
    return EXIT_FAILED


if __name__ == "__main__":
    main()
