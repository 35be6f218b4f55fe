"""`sametrack erase`: erase an account from all stores, and verify it."""

from contextlib import ExitStack
from dataclasses import asdict
from typing import Annotated

import typer

from api.cli import terminal
from api.cli.options import JsonOption
from api.cli.processes.child_processes import is_listening
from api.settings import ApiSettings
from pipelines.documents.messages import counted
from pipelines.erasure import open_erasure
from warehouse.maintenance.erasure import ErasureResult


def erase(
    account: Annotated[
        str, typer.Argument(help="sec_user_id, or the number or handle of an observed account.")
    ],
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Erase an account from tables, payloads, results, reports and caches. Irreversible.

    A salted hash is kept, so that the account is not collected again. Afterwards every file of the
    profile is searched, and reads as of an earlier date report `history_rewritten`. Stop service
    and worker first.
    """
    settings = ApiSettings()
    # A running service reads the files that are to be deleted.
    port = settings.api_port
    if is_listening(port, settings.api_host):
        terminal.show_error(
            "warehouse_unavailable",
            f"A service runs on port {port} and caches responses that would be erased",
            "stop it (Ctrl-C where `sametrack up` or `sametrack serve` runs), then erase",
        )
        raise typer.Exit(terminal.EXIT_FAILED)
    # The stores stay open from the confirmation to the proof.
    with ExitStack() as stack:
        erasure = open_erasure(settings, account, stack)
        if not yes:
            names = erasure.find()
            posts = counted(len(names.videos), "post")
            terminal.err.print(
                f"This erases [bold]{terminal.safe(names.sec_uid)}[/] and {posts} from all tables, "
                "results, reports and caches. It cannot be undone."
            )
            if not typer.confirm("Erase it?", err=True):
                terminal.exit_with_input_error("nothing was erased", hint="answer y, or give --yes")
        erased = erasure.carry_out()
    _print_summary(erased, as_json=as_json)
    if not erased.proof.is_clean:
        raise typer.Exit(terminal.EXIT_FAILED)


def _print_summary(erased: ErasureResult, *, as_json: bool) -> None:
    """Print what was deleted, and whether a search of all files still finds the account."""
    if as_json:
        document = {**asdict(erased), "is_clean": erased.proof.is_clean}
        terminal.print_json(document, indent=None)
        return
    for name, count in sorted(erased.rows.items()):
        terminal.out.print(f"{count:>10,}  rows of {terminal.safe(name)}")
    for name, count in sorted(erased.control_rows.items()):
        terminal.out.print(f"{count:>10,}  rows of {terminal.safe(name)} in the control store")
    terminal.out.print(f"{erased.runs:>10,}  Dagster runs")
    terminal.out.print(f"{erased.files:>10,}  files")
    searched = (
        f"{counted(erased.proof.file_count, 'file')} ({erased.proof.byte_count:,} bytes) searched"
    )
    if erased.proof.is_clean:
        terminal.out.print(
            f"[green]erased[/]: {searched}, including archives; the account is in none of them"
        )
        terminal.print_message(
            "files exported elsewhere are not covered; the DuckDB file is published again"
        )
        return
    terminal.show_error(
        "internal_error", f"{searched}; the account is still in {', '.join(erased.proof.places)}"
    )
