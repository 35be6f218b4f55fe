"""The read-only warehouse that the analysis commands open."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from api.cli.rendering.results import print_banner
from api.cli.stores import stored_settings
from api.cli.terminal import err, print_message
from pipelines.open_stores import open_chosen_home, open_engine_of
from warehouse.engine.duckdb_engine import Engine
from warehouse.exports.table_files import MEDIA_TYPES, TableFormat
from warehouse.home import Home
from warehouse.lake.reading import parse_as_of
from warehouse.queries.accounts import is_history_rewritten
from warehouse.records.worlds import is_demo_world


@dataclass(frozen=True, slots=True)
class Workspace:
    """The warehouse of a profile, open for reading. Without `as_of`: the current state."""

    engine: Engine
    home: Home
    as_of: datetime | None
    is_demo: bool
    is_history_rewritten: bool


@contextmanager
def open_workspace(as_of: str | None = None, *, is_fixed: bool = False) -> Iterator[Workspace]:
    """Open the warehouse of the chosen profile, or the only one; print a notice for demo data.

    `is_fixed`: without `as_of`, read as of now, so that all tables show the same moment.

    Raises:
        ProfileNotChosenError: No profile is chosen, and there is no or more than one world.
        InvalidParameterError: `as_of` is not a time in the past.
        WarehouseError: The lake cannot be opened.
    """
    # Without a moment each table is read in its newest version at the time of its query.
    now = datetime.now(UTC)
    moment = parse_as_of(as_of, now=now) if as_of is not None else now if is_fixed else None
    settings = stored_settings()
    home = open_chosen_home(settings)
    is_demo = is_demo_world(home.world)
    with open_engine_of(settings, home, as_of=moment) as engine:
        if is_demo:
            print_banner(err)
        is_rewritten = is_history_rewritten(engine)
        if is_rewritten:
            print_message(
                "[yellow]history rewritten:[/] an account was erased after that time, so the data "
                "differs from what it was then"
            )
        yield Workspace(engine, home, moment, is_demo, is_rewritten)


def format_of(out_file: Path | None) -> TableFormat | None:
    """Return the format that the ending of a file name stands for, if any."""
    ending = "" if out_file is None else out_file.suffix.removeprefix(".").lower()
    return next((form for form in MEDIA_TYPES if form == ending), None)
