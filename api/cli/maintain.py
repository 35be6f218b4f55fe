"""`sametrack maintain`: remove what is kept no longer, and say how much it was."""

import json
from contextlib import ExitStack
from dataclasses import asdict
from typing import Annotated

import typer

from api.cli.terminal import out

NAMES = {
    "jobs": "jobs past their retention",
    "results": "their results",
    "runs_deleted": "old runs of the orchestrator, with their events",
    "runs_ended": "runs ended after their job",
    "links_and_leases": "links, leases and workers that ran out",
    "outbox_lines": "outbox lines above the cap",
    "tables_arranged": "large tables arranged, so that pages are found quickly",
}


def maintain(
    *, as_json: Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")] = False
) -> None:
    """Remove expired jobs with their results, old runs, and what ran out."""
    from pipelines.settings import Settings  # noqa: PLC0415 -- loads pydantic
    from pipelines.upkeep import open_keeper  # noqa: PLC0415 -- loads Dagster and Delta

    with ExitStack() as stack:
        swept = asdict(open_keeper(Settings(), stack).sweep_all())
    if as_json:
        out.out(json.dumps({name: swept[name] for name in NAMES}))
        return
    for name, meaning in NAMES.items():
        out.print(f"{swept[name]:>8}  {meaning}")
