"""The newest jobs of a control store in SQLite, read without SQLAlchemy.

Loading that library takes longer than everything else that a list of jobs needs. It does all other
reads, and all writes.
"""

import sqlite3
from contextlib import closing
from dataclasses import fields
from datetime import datetime
from pathlib import Path

from warehouse.home.folder import CONTROL_VERSION
from warehouse.records.jobs import Job

_PREFIX = "sqlite:///"
_COLUMNS = ", ".join(field.name for field in fields(Job))
_NEWEST = f"""
select {_COLUMNS} from jobs where expires_at is null or expires_at > ?
order by created_at desc, job_id limit ?
"""  # noqa: S608 -- names of our own


def read_newest_jobs(url: str, *, world: str, limit: int, kept_at: datetime) -> list[Job] | None:
    """Return the jobs that are still kept, newest first.

    Args:
        url: The control store's URL, as `open_control` takes it.
        world: Its world.
        limit: How many at most.
        kept_at: Jobs whose retention period was over then are left out.

    Returns:
        None if the store is on a server, not there yet, of another version or world, or cannot be
        read like this: open it instead, which creates or migrates it, or says what is wrong.
    """
    if not url.startswith(_PREFIX):
        return None
    address = f"{Path(url.removeprefix(_PREFIX)).absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            marks = dict(connection.execute("select name, value from marks"))
            if (marks.get("world"), marks.get("schema_version")) != (world, str(CONTROL_VERSION)):
                return None
            connection.row_factory = sqlite3.Row
            found = connection.execute(_NEWEST, (kept_at.timestamp(), limit)).fetchall()
    except sqlite3.Error:
        return None
    return [Job.from_columns(dict(row)) for row in found]
