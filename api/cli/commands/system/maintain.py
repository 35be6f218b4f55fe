"""`sametrack maintain`: run one round of maintenance."""

from dataclasses import asdict

from api.cli.options import JsonOption
from api.cli.terminal import out, print_json
from pipelines.orchestration.worker.maintenance import maintain_once
from pipelines.settings import Settings

NAMES = {
    "jobs": "jobs past their retention",
    "results": "their results",
    "runs_deleted": "old Dagster runs with their events",
    "runs_ended": "Dagster runs ended because their job has ended",
    "links_and_leases": "expired links, leases and workers",
    "payloads": "payloads past their retention",
    "sounds": "audio features past their retention",
    "files_merged": "small table files merged",
    "files_deleted": "files deleted that no version of the last week uses",
    "tables_arranged": "large tables sorted for fast page reads",
    "works_indexed": "observations added to the video index",
}


def maintain(*, as_json: JsonOption = False) -> None:
    """Delete expired data, and compact and sort tables."""
    counts = asdict(maintain_once(Settings()))
    if as_json:
        print_json({name: counts[name] for name in NAMES}, indent=None)
        return
    for name, meaning in NAMES.items():
        out.print(f"{counts[name]:>8}  {meaning}")
