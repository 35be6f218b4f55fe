"""Tables of the control store: small mutable state that processes share.

One schema for SQLite and PostgreSQL: times are Unix seconds (UTC) and JSON is text, so both store
the same values. Every change needs a numbered migration in `migrations`. Facts are rows of the
lake.
"""

from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    and_,
)

METADATA = MetaData()


def _table(name: str, *columns: Column[Any]) -> Table:
    return Table(name, METADATA, *columns)


MARKS = _table(
    "marks",
    Column("name", String, primary_key=True),
    Column("value", String, nullable=False),
)

# Jobs: their requests and progress, and the rows that exist only while a scan runs.
JOBS = _table(
    "jobs",
    Column("job_id", String, primary_key=True),
    Column("kind", String, nullable=False),
    Column("status", String, nullable=False),
    Column("input", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("music_id", String),
    Column("parameters", Text, nullable=False),
    Column("fingerprint", String, nullable=False),
    Column("scan_key", String),
    Column("origin", String, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("progress", Text, nullable=False),
    Column("error", Text),
    Column("cancel_requested", Boolean, nullable=False),
    Column("worker_id", String),
    Column("heartbeat_at", Double),
    Column("created_at", Double, nullable=False),
    Column("started_at", Double),
    Column("finished_at", Double),
    Column("expires_at", Double),
    Column("attempt", Integer, nullable=False, server_default="1"),
    Column("run_number", Integer, nullable=False, server_default="0"),
)
# A job that is being cancelled is not joined: a new request for it creates a new job.
JOINABLE_JOBS = and_(JOBS.c.status.in_(("queued", "running")), JOBS.c.cancel_requested.is_(False))
ONE_TWIN = Index("jobs_one_twin", JOBS.c.fingerprint, unique=True, sqlite_where=JOINABLE_JOBS)
"""Its condition on PostgreSQL is set in `database.py`, where that is connected to."""
Index("jobs_queue", JOBS.c.status, JOBS.c.priority, JOBS.c.created_at)
Index("jobs_scan", JOBS.c.scan_key, JOBS.c.finished_at)
Index("jobs_age", JOBS.c.created_at)

SCAN_JOURNAL = _table(
    "scan_journal",
    Column("job_id", String, primary_key=True),
    Column("run_number", Integer, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("checkpoint", Integer, nullable=False),
    Column("key", Text, nullable=False),
    Column("capture_id", String),
    Column("document", LargeBinary, nullable=False),
    Column("body", LargeBinary),
)

SCAN_PREVIEWS = _table(
    "scan_previews",
    Column("job_id", String, primary_key=True),
    Column("updated_at", Double, nullable=False),
    Column("document", LargeBinary, nullable=False),
)

# Users: their notes and the open sessions of their browsers.
NOTES = _table(
    "user_notes",
    Column("kind", String, primary_key=True),
    Column("entity_id", String, primary_key=True),
    Column("note", Text),
    Column("tags", Text, nullable=False),
    Column("updated_at", Double, nullable=False),
)

SESSIONS = _table(
    "sessions",
    Column("session_id", String, primary_key=True),
    Column("ends_at", Double, nullable=False),
)

# Workers, and what they share about hosts and links.
WORKERS = _table(
    "workers",
    Column("worker_id", String, primary_key=True),
    Column("heartbeat_at", Double, nullable=False),
)

HOSTS = _table(
    "hosts",
    Column("host", String, primary_key=True),
    Column("tokens", Double, nullable=False),
    Column("filled_at", Double, nullable=False),
    Column("day", Integer, nullable=False),
    Column("spent", Integer, nullable=False),
    Column("paused_until", Double),
)

LINKS = _table(
    "links",
    Column("key", String, primary_key=True),
    Column("kind", String, nullable=False),
    Column("target", Text, nullable=False),
    Column("expires_at", Double, nullable=False),
)

LEASES = _table(
    "leases",
    Column("name", String, primary_key=True),
    Column("owner", String, nullable=False),
    Column("expires_at", Double, nullable=False),
)

# Captures: their numbers, and how often the data about an entity has changed.
SEQUENCES = _table(
    "sequences",
    Column("surface", String, primary_key=True),
    Column("entity_id", String, primary_key=True),
    Column("value", Integer, nullable=False),
)

GENERATIONS = _table(
    "generations",
    Column("entity", String, primary_key=True),
    Column("value", Integer, nullable=False),
)

# Surfaces of hosts: whether they may be requested, and how they answered lately.
CIRCUITS = _table(
    "circuits",
    Column("host", String, primary_key=True),
    Column("surface", String, primary_key=True),
    Column("failures", Integer, nullable=False),
    Column("openings", Integer, nullable=False),
    Column("cause", String),
    Column("open_until", Double),
    Column("probe_until", Double),
    Column("failed_at", Double),
    Column("worked_at", Double),
)

SURFACE_ANSWERS = _table(
    "surface_answers",
    Column("host", String, primary_key=True),
    Column("surface", String, primary_key=True),
    Column("answers", Text, nullable=False),
    Column("answered_at", Double),
    Column("probed_at", Double),
)

# Requests: which process reads a page now, and what makes a later request cheaper or forbidden.
CAPTURES_IN_FLIGHT = _table(
    "capturing",
    Column("name", String, primary_key=True),
    Column("owner", String, nullable=False),
    Column("expires_at", Double, nullable=False),
    Column("is_wanted", Boolean, nullable=False),
    Column("capture_id", String),
)
Index("capturing_age", CAPTURES_IN_FLIGHT.c.expires_at)

CACHE_VALIDATORS = _table(
    "remembered",
    Column("address", String, primary_key=True),
    Column("etag", Text),
    Column("last_modified", Text),
    Column("payload_sha256", String, nullable=False),
    Column("kept_at", Double, nullable=False),
)
Index("remembered_age", CACHE_VALIDATORS.c.kept_at)

ROBOTS_FILES = _table(
    "robots_files",
    Column("host", String, primary_key=True),
    Column("status", Integer),
    Column("body", Text),
    Column("fetched_at", Double, nullable=False),
)

ROBOTS = _table(
    "robots",
    Column("host", String, primary_key=True),
    Column("surface", String, primary_key=True),
    Column("decision", String, nullable=False),
    Column("reason", String, nullable=False),
    Column("decided_at", Double, nullable=False),
)

# Captures that are made later.
BACKLOG = _table(
    "backlog",
    Column("surface", String, primary_key=True),
    Column("entity_id", String, primary_key=True),
    Column("document", Text, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("asked_at", Double, nullable=False),
    Column("due_at", Double, nullable=False),
)

# Watchlists: their plans, their runs, and the check of each entry of a run.
WATCHLISTS = _table(
    "watchlists",
    Column("name", String, primary_key=True),
    Column("plan", Text, nullable=False),
    Column("cron", String, nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    Column("considered_until", Double, nullable=False),
)

WATCHLIST_RUNS = _table(
    "watch_runs",
    Column("run_id", String, primary_key=True),
    Column("watchlist", String, nullable=False),
    Column("plan", Text, nullable=False),
    Column("due_at", Double, nullable=False),
    Column("origin", String, nullable=False),
    Column("status", String, nullable=False),
    Column("missed_count", Integer, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("owner", String),
    Column("held_until", Double),
    Column("began_at", Double),
    Column("ended_at", Double),
    Column("outcome", Text),
    Column("digest", Text),
    Column("told", Text),
)
# One run per due time, however many processes try to create it.
Index("watch_runs_once", WATCHLIST_RUNS.c.watchlist, WATCHLIST_RUNS.c.due_at, unique=True)
Index("watch_runs_open", WATCHLIST_RUNS.c.status, WATCHLIST_RUNS.c.due_at)

WATCHLIST_CHECKS = _table(
    "watch_looks",
    Column("run_id", String, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("watchlist", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("input", Text, nullable=False),
    Column("status", String, nullable=False),
    Column("subject", String),
    Column("job_id", String),
    Column("error", Text),
    Column("observation", Text),
    Column("ended_at", Double),
)
Index(
    "watch_looks_of_subject",
    WATCHLIST_CHECKS.c.watchlist,
    WATCHLIST_CHECKS.c.kind,
    WATCHLIST_CHECKS.c.subject,
    WATCHLIST_CHECKS.c.ended_at,
)

# Catalogues, and the results of their tracks, which outlive the jobs.
CATALOGS = _table(
    "catalogs",
    Column("name", String, primary_key=True),
    Column("settings", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
)

CATALOG_TRACKS = _table(
    "catalog_tracks",
    Column("catalog", String, primary_key=True),
    Column("track_key", String, primary_key=True),
    Column("position", Integer, nullable=False),
    Column("input", Text, nullable=False),
    Column("label", Text),
    Column("priority", Integer, nullable=False),
    Column("columns", Text, nullable=False),
    Column("submission_count", Integer, nullable=False),
    Column("job_id", String),
    Column("charged_day", Integer),
    Column("charged_requests", Integer, nullable=False),
    Column("music_id", String),
    Column("result_job_id", String),
    Column("result_at", Double),
    Column("previous_job_id", String),
    Column("failed_at", Double),
    Column("error", Text),
    Column("charged_scans", Integer, nullable=False, server_default="0"),
)
