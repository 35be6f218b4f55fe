"""Metadata of a run for Dagster's UI. Conversion only.

Text from outside is shown as text, never as markup: titles go through `MetadataValue.text`.

What a step without a table of its own reads goes into the tables of all observations. Its job and
the surfaces that it reads select its rows there, by a query that its run shows. The rounds of
`confirmed_videos` read the same surfaces for the same job, so after them the query finds their rows
too.
"""

from collections.abc import Collection, Mapping
from typing import Any

from dagster import (
    MetadataValue,
    PathMetadataValue,
    TableColumn,
    TableRecord,
    TableSchema,
    UrlMetadataValue,
)

from pipelines.scan.scan_run import ScanRun
from pipelines.scan.state.checkpoints import CHECKPOINTS
from warehouse.records.coverage import merge_coverage
from warehouse.records.videos import LIST_SURFACES, Track

type RunMetadata = dict[str, Any]  # what Dagster converts; its own name for it is private

_COVERAGE_COLUMNS = TableSchema(
    columns=[
        TableColumn("surface", "string"),
        *(TableColumn(name, "int") for name in ("requests", "pages", "items", "new_items")),
        TableColumn("stop_reason", "string"),
    ]
)


def _listed(surfaces: Collection[str]) -> str:
    return ", ".join(f"'{surface}'" for surface in sorted(surfaces))


def _items_of(*surfaces: str) -> str:
    return (
        "select items.*\n"
        "from seen.capture_items as items join raw.captures as captures using (capture_id)\n"
        f"where captures.job_id = '{{job}}' and captures.surface in ({_listed(surfaces)})"
    )


STEP_ROWS: Mapping[str, str] = {
    "music_first_screen": _items_of("music_list", "trends_list", "music_page", "music_app"),
    "author_first_screens": _items_of("user_posts", "user_page"),
    "hashtag_first_screens": _items_of("hashtag_list", "hashtag_page"),
    "video_details": "select *\nfrom seen.videos\n"
    f"where job_id = '{{job}}' and surface not in ({_listed(LIST_SURFACES)})",
    "account_profiles": "select *\nfrom seen.accounts\nwhere job_id = '{job}'",
}
"""Queries by step; `{job}` is the job."""


def track_metadata(session: ScanRun, track: Track) -> RunMetadata:
    """Return the track of a run, with links to the job and the public page."""
    return {
        "music_id": MetadataValue.text(track.music_id),
        "title": MetadataValue.text(track.title or "(no title)"),
        "job": _job_link(session),
        "public_page": MetadataValue.url(
            session.runtime.profile.public_address("public_music", music_id=track.music_id)
        ),
        "is_demo_data": session.runtime.is_demo,
    }


def _job_link(session: ScanRun) -> PathMetadataValue | UrlMetadataValue:
    """Link to the job in the console, or its API path if no console address is configured."""
    console_url = session.runtime.settings.console_url
    if console_url is None:
        return MetadataValue.path(session.job_path)
    return MetadataValue.url(f"{console_url.rstrip('/')}/console#/job/{session.job.job_id}")


def coverage_metadata(session: ScanRun) -> RunMetadata:
    """Return the coverage report so far as a table."""
    records = [
        TableRecord({
            "surface": entry.surface,
            "requests": entry.requests,
            "pages": entry.pages,
            "items": entry.items,
            "new_items": entry.new_items,
            "stop_reason": entry.stop_reason,
        })
        for entry in merge_coverage(session.state.coverage_report)
    ]  # fmt: skip
    return {
        "requests_used": session.captures.requests_used,
        "coverage": MetadataValue.table(records=records, schema=_COVERAGE_COLUMNS),
    }


def rows_of_step(step: str, job_id: str) -> str:
    """Return the query for the rows of a step."""
    return STEP_ROWS[step].format(job=job_id)


def step_metadata(session: ScanRun, step: str) -> RunMetadata:
    """Return the query for what a step has written, and the checkpoint that has its state.

    What another request captured moments before is used again and keeps the job of that request.
    """
    job_id = session.job.job_id
    return {
        "rows": MetadataValue.md(f"```sql\n{rows_of_step(step, job_id)}\n```"),
        **checkpoint_metadata(session),
    }


def checkpoint_metadata(session: ScanRun) -> RunMetadata:
    """Return where the state after a step is kept, for `CHECKPOINT_RETENTION_DAYS`."""
    number = session.state.checkpoint
    return {
        "checkpoint": MetadataValue.text(
            f"{CHECKPOINTS}: job_id {session.job.job_id}, number {number}"
        )
    }
