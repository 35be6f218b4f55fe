"""`sametrack maintain`: one round of upkeep, and how much there was to do."""

import json
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
    "payloads": "bodies past their retention",
    "sounds": "measured sounds past their retention",
    "files_merged": "small files of tables merged",
    "files_deleted": "files deleted that no version of the last week names",
    "tables_arranged": "large tables arranged, so that pages are found quickly",
    "works_indexed": "observations taken up by the index of works",
}


def maintain(
    *, as_json: Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")] = False
) -> None:
    """Remove what is kept no longer, and write what has grown so that it is found quickly."""
    from pipelines.orchestration.worker.maintenance_rounds import maintain_once  # noqa: PLC0415 -- loads Dagster and Delta
    from pipelines.settings import Settings  # noqa: PLC0415 -- loads pydantic

    swept = asdict(maintain_once(Settings()))
    if as_json:
        out.out(json.dumps({name: swept[name] for name in NAMES}))
        return
    for name, meaning in NAMES.items():
        out.print(f"{swept[name]:>8}  {meaning}")
