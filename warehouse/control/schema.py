"""Tables of the control store: small mutable state that processes share.

One schema for SQLite and PostgreSQL: times are Unix seconds (UTC) and JSON is text, so both store
the same values. Every change needs a numbered migration in `migrations`. Facts are rows of the
lake.
"""

from typing import Any

import sqlalchemy as sa

METADATA = sa.MetaData()


def _table(name: str, *columns: sa.Column[Any]) -> sa.Table:
    return sa.Table(name, METADATA, *columns)


MARKS = _table(
    "marks",
    sa.Column("name", sa.String, primary_key=True),
    sa.Column("value", sa.String, nullable=False),
)

# Jobs: their requests and progress, and the rows that exist only while a scan runs.
JOBS = _table(
    "jobs",
    sa.Column("job_id", sa.String, primary_key=True),
    sa.Column("kind", sa.String, nullable=False),
    sa.Column("status", sa.String, nullable=False),
    sa.Column("input", sa.Text, nullable=False),
    sa.Column("target", sa.Text, nullable=False),
    sa.Column("music_id", sa.String),
    sa.Column("parameters", sa.Text, nullable=False),
    sa.Column("fingerprint", sa.String, nullable=False),
    sa.Column("scan_key", sa.String),
    sa.Column("origin", sa.String, nullable=False),
    sa.Column("priority", sa.Integer, nullable=False),
    sa.Column("progress", sa.Text, nullable=False),
    sa.Column("error", sa.Text),
    sa.Column("cancel_requested", sa.Boolean, nullable=False),
    sa.Column("worker_id", sa.String),
    sa.Column("heartbeat_at", sa.Double),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Column("started_at", sa.Double),
    sa.Column("finished_at", sa.Double),
    sa.Column("expires_at", sa.Double),
    sa.Column("attempt", sa.Integer, nullable=False, server_default="1"),
    sa.Column("run_number", sa.Integer, nullable=False, server_default="0"),
)
# A job that is being cancelled is not joined: a new request for it creates a new job.
JOINABLE_JOBS = sa.and_(
    JOBS.c.status.in_(("queued", "running")), JOBS.c.cancel_requested.is_(False)
)
ONE_TWIN = sa.Index("jobs_one_twin", JOBS.c.fingerprint, unique=True, sqlite_where=JOINABLE_JOBS)
"""Its condition on PostgreSQL is set in `database.py`, where that is connected to."""
sa.Index("jobs_queue", JOBS.c.status, JOBS.c.priority, JOBS.c.created_at)
sa.Index("jobs_scan", JOBS.c.scan_key, JOBS.c.finished_at)
sa.Index("jobs_age", JOBS.c.created_at)

SCAN_JOURNAL = _table(
    "scan_journal",
    sa.Column("job_id", sa.String, primary_key=True),
    sa.Column("run_number", sa.Integer, primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True),
    sa.Column("checkpoint", sa.Integer, nullable=False),
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("capture_id", sa.String),
    sa.Column("document", sa.LargeBinary, nullable=False),
    sa.Column("body", sa.LargeBinary),
)

SCAN_PREVIEWS = _table(
    "scan_previews",
    sa.Column("job_id", sa.String, primary_key=True),
    sa.Column("updated_at", sa.Double, nullable=False),
    sa.Column("document", sa.LargeBinary, nullable=False),
)

# Users: their notes and the open sessions of their browsers.
NOTES = _table(
    "user_notes",
    sa.Column("kind", sa.String, primary_key=True),
    sa.Column("entity_id", sa.String, primary_key=True),
    sa.Column("note", sa.Text),
    sa.Column("tags", sa.Text, nullable=False),
    sa.Column("updated_at", sa.Double, nullable=False),
)

SESSIONS = _table(
    "sessions",
    sa.Column("session_id", sa.String, primary_key=True),
    sa.Column("ends_at", sa.Double, nullable=False),
)

# Read-only links for readers without a token. A revoked link has no row.
SHARED_LINKS = _table(
    "shared_links",
    sa.Column("link_id", sa.String, primary_key=True),
    sa.Column("kind", sa.String, nullable=False),
    sa.Column("entity_id", sa.String, nullable=False),
    sa.Column("created_by", sa.Text),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Column("expires_at", sa.Double, nullable=False),
    sa.Column("last_used_at", sa.Double),
)
sa.Index("shared_links_of_entity", SHARED_LINKS.c.kind, SHARED_LINKS.c.entity_id)

# Workers, and what they share about hosts and links.
WORKERS = _table(
    "workers",
    sa.Column("worker_id", sa.String, primary_key=True),
    sa.Column("heartbeat_at", sa.Double, nullable=False),
)

HOSTS = _table(
    "hosts",
    sa.Column("host", sa.String, primary_key=True),
    sa.Column("tokens", sa.Double, nullable=False),
    sa.Column("filled_at", sa.Double, nullable=False),
    sa.Column("day", sa.Integer, nullable=False),
    sa.Column("spent", sa.Integer, nullable=False),
    sa.Column("paused_until", sa.Double),
)

LINKS = _table(
    "links",
    sa.Column("key", sa.String, primary_key=True),
    sa.Column("kind", sa.String, nullable=False),
    sa.Column("target", sa.Text, nullable=False),
    sa.Column("expires_at", sa.Double, nullable=False),
)

LEASES = _table(
    "leases",
    sa.Column("name", sa.String, primary_key=True),
    sa.Column("owner", sa.String, nullable=False),
    sa.Column("expires_at", sa.Double, nullable=False),
)

# Captures: their numbers, and how often the data about an entity has changed.
SEQUENCES = _table(
    "sequences",
    sa.Column("surface", sa.String, primary_key=True),
    sa.Column("entity_id", sa.String, primary_key=True),
    sa.Column("value", sa.Integer, nullable=False),
)

GENERATIONS = _table(
    "generations",
    sa.Column("entity", sa.String, primary_key=True),
    sa.Column("value", sa.Integer, nullable=False),
)

# Surfaces of hosts: whether they may be requested, and how they answered lately.
CIRCUITS = _table(
    "circuits",
    sa.Column("host", sa.String, primary_key=True),
    sa.Column("surface", sa.String, primary_key=True),
    sa.Column("failures", sa.Integer, nullable=False),
    sa.Column("openings", sa.Integer, nullable=False),
    sa.Column("cause", sa.String),
    sa.Column("open_until", sa.Double),
    sa.Column("probe_until", sa.Double),
    sa.Column("failed_at", sa.Double),
    sa.Column("worked_at", sa.Double),
)

SURFACE_ANSWERS = _table(
    "surface_answers",
    sa.Column("host", sa.String, primary_key=True),
    sa.Column("surface", sa.String, primary_key=True),
    sa.Column("answers", sa.Text, nullable=False),
    sa.Column("answered_at", sa.Double),
    sa.Column("probed_at", sa.Double),
)

# Requests: which process reads a page now, and what makes a later request cheaper or forbidden.
CAPTURES_IN_FLIGHT = _table(
    "capturing",
    sa.Column("name", sa.String, primary_key=True),
    sa.Column("owner", sa.String, nullable=False),
    sa.Column("expires_at", sa.Double, nullable=False),
    sa.Column("is_wanted", sa.Boolean, nullable=False),
    sa.Column("capture_id", sa.String),
)
sa.Index("capturing_age", CAPTURES_IN_FLIGHT.c.expires_at)

CACHE_VALIDATORS = _table(
    "remembered",
    sa.Column("address", sa.String, primary_key=True),
    sa.Column("etag", sa.Text),
    sa.Column("last_modified", sa.Text),
    sa.Column("payload_sha256", sa.String, nullable=False),
    sa.Column("kept_at", sa.Double, nullable=False),
)
sa.Index("remembered_age", CACHE_VALIDATORS.c.kept_at)

ROBOTS_FILES = _table(
    "robots_files",
    sa.Column("host", sa.String, primary_key=True),
    sa.Column("status", sa.Integer),
    sa.Column("body", sa.Text),
    sa.Column("fetched_at", sa.Double, nullable=False),
)

ROBOTS = _table(
    "robots",
    sa.Column("host", sa.String, primary_key=True),
    sa.Column("surface", sa.String, primary_key=True),
    sa.Column("decision", sa.String, nullable=False),
    sa.Column("reason", sa.String, nullable=False),
    sa.Column("decided_at", sa.Double, nullable=False),
)

# Captures that are made later.
BACKLOG = _table(
    "backlog",
    sa.Column("surface", sa.String, primary_key=True),
    sa.Column("entity_id", sa.String, primary_key=True),
    sa.Column("document", sa.Text, nullable=False),
    sa.Column("tries", sa.Integer, nullable=False),
    sa.Column("asked_at", sa.Double, nullable=False),
    sa.Column("due_at", sa.Double, nullable=False),
)

# Watchlists: their plans, their runs, and the check of each entry of a run.
WATCHLISTS = _table(
    "watchlists",
    sa.Column("name", sa.String, primary_key=True),
    sa.Column("plan", sa.Text, nullable=False),
    sa.Column("cron", sa.String, nullable=False),
    sa.Column("enabled", sa.Boolean, nullable=False),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Column("updated_at", sa.Double, nullable=False),
    sa.Column("considered_until", sa.Double, nullable=False),
)

WATCHLIST_RUNS = _table(
    "watch_runs",
    sa.Column("run_id", sa.String, primary_key=True),
    sa.Column("watchlist", sa.String, nullable=False),
    sa.Column("plan", sa.Text, nullable=False),
    sa.Column("due_at", sa.Double, nullable=False),
    sa.Column("origin", sa.String, nullable=False),
    sa.Column("status", sa.String, nullable=False),
    sa.Column("missed_count", sa.Integer, nullable=False),
    sa.Column("tries", sa.Integer, nullable=False),
    sa.Column("owner", sa.String),
    sa.Column("held_until", sa.Double),
    sa.Column("began_at", sa.Double),
    sa.Column("ended_at", sa.Double),
    sa.Column("outcome", sa.Text),
    sa.Column("digest", sa.Text),
    sa.Column("told", sa.Text),
)
# One run per due time, however many processes try to create it.
sa.Index("watch_runs_once", WATCHLIST_RUNS.c.watchlist, WATCHLIST_RUNS.c.due_at, unique=True)
sa.Index("watch_runs_open", WATCHLIST_RUNS.c.status, WATCHLIST_RUNS.c.due_at)

WATCHLIST_CHECKS = _table(
    "watch_looks",
    sa.Column("run_id", sa.String, primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True),
    sa.Column("watchlist", sa.String, nullable=False),
    sa.Column("kind", sa.String, nullable=False),
    sa.Column("input", sa.Text, nullable=False),
    sa.Column("status", sa.String, nullable=False),
    sa.Column("subject", sa.String),
    sa.Column("job_id", sa.String),
    sa.Column("error", sa.Text),
    sa.Column("observation", sa.Text),
    sa.Column("ended_at", sa.Double),
)
sa.Index(
    "watch_looks_of_subject",
    WATCHLIST_CHECKS.c.watchlist,
    WATCHLIST_CHECKS.c.kind,
    WATCHLIST_CHECKS.c.subject,
    WATCHLIST_CHECKS.c.ended_at,
)

# Where messages about runs of watchlists go, and each attempt to send one. A URL is a secret.
ALERT_CHANNELS = _table(
    "alert_channels",
    sa.Column("name", sa.String, primary_key=True),
    sa.Column("url", sa.Text, nullable=False),
    sa.Column("service", sa.String, nullable=False),
    sa.Column("language", sa.String, nullable=False),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Column("test", sa.Text),
)

ALERT_DELIVERIES = _table(
    "alert_deliveries",
    sa.Column("run_id", sa.String, primary_key=True),
    sa.Column("channel", sa.String, primary_key=True),
    sa.Column("status", sa.String, nullable=False),
    sa.Column("attempts", sa.Text, nullable=False),
    sa.Column("next_at", sa.Double),
)
sa.Index("alert_deliveries_due", ALERT_DELIVERIES.c.status, ALERT_DELIVERIES.c.next_at)

# Catalogues, and the results of their tracks, which outlive the jobs.
CATALOGS = _table(
    "catalogs",
    sa.Column("name", sa.String, primary_key=True),
    sa.Column("settings", sa.Text, nullable=False),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Column("updated_at", sa.Double, nullable=False),
)

CATALOG_TRACKS = _table(
    "catalog_tracks",
    sa.Column("catalog", sa.String, primary_key=True),
    sa.Column("track_key", sa.String, primary_key=True),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("input", sa.Text, nullable=False),
    sa.Column("label", sa.Text),
    sa.Column("priority", sa.Integer, nullable=False),
    sa.Column("columns", sa.Text, nullable=False),
    sa.Column("submission_count", sa.Integer, nullable=False),
    sa.Column("job_id", sa.String),
    sa.Column("charged_day", sa.Integer),
    sa.Column("charged_requests", sa.Integer, nullable=False),
    sa.Column("music_id", sa.String),
    sa.Column("result_job_id", sa.String),
    sa.Column("result_at", sa.Double),
    sa.Column("previous_job_id", sa.String),
    sa.Column("failed_at", sa.Double),
    sa.Column("error", sa.Text),
    sa.Column("charged_scans", sa.Integer, nullable=False, server_default="0"),
)
