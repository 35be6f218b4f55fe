"""The digest of one run: the changes of each entry, as a document and as two files.

The document is authoritative and is also stored in the control store; the HTML file is for users,
the JSON file for other programs. Not here: finding changes (`changes.py`), sending (`webhook.py`).
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from uuid import uuid4

import orjson

from pipelines.documents.html_pages import PageTemplates, rounded_number
from pipelines.documents.messages import FIGURES
from pipelines.documents.videos import to_time
from pipelines.watchlists.changes import WatchChanges, WatchObservation
from warehouse.records.errors import WarehouseUnavailableError
from warehouse.records.values import Document, ReadOnlyDocument
from warehouse.records.watchlists import EntryCheck, WatchlistRun

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class DigestEntry:
    """A finished entry; `observation` and `changes` are None if it failed."""

    check: EntryCheck
    observation: WatchObservation | None
    changes: WatchChanges | None


def build_digest(
    run: WatchlistRun, reports: Sequence[DigestEntry], *, ended_at: datetime, is_demo: bool
) -> Document:
    """Build the digest as plain JSON values.

    Two links of one track have an entry each; their changes count once.
    """
    completed = [report for report in reports if report.changes is not None]
    change_counts = {
        (report.check.entry.kind, report.check.subject): report.changes.count
        for report in reports
        if report.changes is not None
    }
    return {
        "kind": "watch_digest",
        "schema_version": SCHEMA_VERSION,
        "watchlist": run.watchlist,
        "run_id": run.run_id,
        "origin": run.origin,
        "every": run.plan.every,
        "due_at": to_time(run.due_at),
        "began_at": to_time(run.began_at),
        "ended_at": to_time(ended_at),
        "missed_count": run.missed_count,
        "thresholds": asdict(run.plan.thresholds),
        "entry_count": len(reports),
        "completed_count": len(completed),
        "failed_count": len(reports) - len(completed),
        "change_count": sum(change_counts.values()),
        "entries": [_entry(report) for report in reports],
        "coverage_complete": False,
        "is_demo_data": is_demo,
    }


def _entry(report: DigestEntry) -> Document:
    check, observed = report.check, report.observation
    return {
        "kind": check.entry.kind,
        "input": check.entry.input,
        "subject": check.subject,
        "title": None if observed is None else observed.title,
        "status": check.status,
        "job_id": check.job_id,
        "error": check.error,
        "observed_at": None if observed is None else to_time(observed.observed_at),
        "work_count": None if observed is None else len(observed.works),
        "changes": None if report.changes is None else report.changes.to_document(),
    }


def write_digest(folder: Path, digest: ReadOnlyDocument) -> dict[str, str]:
    """Write a digest to `<watchlist>/<due time>-<run>.json` and `.html` below a folder, atomically.

    Returns the paths relative to the folder, by suffix.

    Raises:
        WarehouseUnavailableError: A file cannot be written.
    """
    due = "".join(sign for sign in digest["due_at"] if sign.isalnum())
    # Files sort by due time; a part of the run's id keeps two runs of one time apart.
    stem = f"{digest['watchlist']}/{due}-{digest['run_id'][:8]}"
    texts = {
        "json": orjson.dumps(digest, option=orjson.OPT_INDENT_2),
        "html": render_digest(digest).encode(),
    }
    try:
        for suffix, text in texts.items():
            _replace(folder / f"{stem}.{suffix}", text)
    except OSError as error:
        raise WarehouseUnavailableError(
            f"the digest cannot be written: {error.strerror}",
            hint="check DATA_HOME, its owner and the free disk space",
        ) from error
    return {suffix: f"{stem}.{suffix}" for suffix in texts}


def render_digest(digest: ReadOnlyDocument) -> str:
    """Render a digest as one HTML file."""
    figures = {name: (label.en, label.zh) for name, label in FIGURES.items()}
    return _PAGES.render("digest.html.j2", style="digest.css", digest=digest, figures=figures)


def _replace(path: Path, content: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # A reader finds the file as a whole or not at all.
    draft = path.with_name(f".{path.name}.{uuid4().hex}")
    draft.write_bytes(content)
    draft.replace(path)


def _signed(value: float | None) -> str:
    return "—" if value is None else f"{value:+,.0f}"


def _when(value: str | None) -> str:
    return "—" if value is None else f"{value[:10]} {value[11:16]} UTC"


_PAGES = PageTemplates(
    "pipelines.watchlists", filters={"number": rounded_number, "signed": _signed, "when": _when}
)
