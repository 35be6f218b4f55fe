"""The book of watchlists: what the API and the command line keep, change and tell of them.

Blocking calls on the control store. Starts nothing: a run that is asked for is taken up by the
orchestrator's sensor, or by `sametrack watchlist run`. Not here: HTTP, files, running.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any, Protocol

from api.responses.errors import NotFoundError
from pipelines.captures.inputs import Target, read_music_input
from pipelines.documents.videos import Document, to_time
from pipelines.platform.providers import choose_profile
from pipelines.settings import Settings
from pipelines.watchlists.cron import CronCalendar, check_cron
from warehouse.control import open_control
from warehouse.home.folder import open_home
from warehouse.records.errors import InvalidParameterError
from warehouse.records.jobs import Origin
from warehouse.records.watchlists import (
    Look,
    Plan,
    Watchlist,
    WatchRun,
    check_name,
    to_cron,
    to_plan,
)
from warehouse.records.worlds import is_demo_world

PATH = "/api/v1/sametrack/watchlists"


class Shelf(Protocol):
    """What the book needs of the control store."""

    def create_watchlist(self, plan: Plan, cron: str) -> bool: ...
    def update_watchlist(self, plan: Plan, cron: str) -> bool: ...
    def delete_watchlist(self, name: str) -> bool: ...
    def watchlist(self, name: str) -> Watchlist | None: ...
    def watchlists(self) -> list[Watchlist]: ...
    def request_run(self, name: str, *, origin: Origin) -> str | None: ...
    def watch_run(self, run_id: str) -> WatchRun | None: ...
    def watch_runs(self, name: str, *, limit: int) -> list[WatchRun]: ...
    def looks(self, run_id: str) -> list[Look]: ...


class WatchBook:
    """Watchlists and their runs.

    Args:
        shelf: The control store.
        find_target: What a link leads to, by its form.
        is_demo: Whether what is observed is invented.
    """

    def __init__(
        self, shelf: Shelf, *, find_target: Callable[[str], Target | None], is_demo: bool
    ) -> None:
        self._shelf = shelf
        self._find_target = find_target
        self._is_demo = is_demo
        self._calendar = CronCalendar()

    def listed(self) -> Document:
        """All watchlists, by name."""
        found = [self._document(kept) for kept in self._shelf.watchlists()]
        return {
            "watchlists": found,
            "returned_count": len(found),
            "is_demo_data": self._is_demo,
        }

    def plans(self) -> dict[str, Plan]:
        """What is kept of each, by name."""
        return {kept.plan.name: kept.plan for kept in self._shelf.watchlists()}

    def read(self, name: str) -> Document:
        """One watchlist.

        Raises:
            NotFoundError: There is none of this name.
        """
        return self._document(self._find(name))

    def create(self, plan: Plan) -> Document:
        """Keep a new one; its first run is due at the next time of its rhythm.

        Raises:
            InputError: A field cannot be used, or the name is taken.
        """
        if not self._shelf.create_watchlist(plan, self.check(plan)):
            raise InvalidParameterError(
                f"`name`: there is a watchlist {plan.name!r} already",
                hint="Change it with PATCH, or take another name",
            )
        return self.read(plan.name)

    def change(self, name: str, fields: Mapping[str, Any]) -> Document:
        """Replace some fields of a plan, given as `Plan.to_document` has them.

        Raises:
            NotFoundError: There is none of this name.
            InputError: A field cannot be used.
        """
        before = self._find(name).plan.to_document()
        self.replace(to_plan({**before, **fields, "name": name}))
        return self.read(name)

    def replace(self, plan: Plan) -> None:
        """Replace a whole plan.

        Raises:
            NotFoundError, InputError: As `change`.
        """
        if not self._shelf.update_watchlist(plan, self.check(plan)):
            raise self._missing(plan.name)

    def delete(self, name: str) -> Document:
        """Forget one with its runs; digests that were written stay as files.

        Raises:
            NotFoundError: There is none of this name.
        """
        if not self._shelf.delete_watchlist(name):
            raise self._missing(name)
        return {"name": name, "deleted": True, "is_demo_data": self._is_demo}

    def run(self, name: str, *, origin: Origin) -> Document:
        """A run outside the rhythm, or the one that is going on.

        Raises:
            NotFoundError: There is none of this name.
        """
        run_id = self._shelf.request_run(name, origin=origin)
        if run_id is None:
            raise self._missing(name)
        return self.run_of(name, run_id)

    def run_of(self, name: str, run_id: str) -> Document:
        """One run with its entries and, once it has ended, its digest.

        Raises:
            NotFoundError: There is none, or it is another watchlist's.
        """
        run = self._shelf.watch_run(run_id)
        if run is None or run.watchlist != name:
            raise NotFoundError("This watchlist has no such run", hint="See the list of its runs")
        entries = [_to_entry(look) for look in self._shelf.looks(run_id)]
        return {
            **_to_run(run),
            "entries": entries,
            "digest": run.digest,
            "is_demo_data": self._is_demo,
        }

    def runs(self, name: str, *, limit: int) -> Document:
        """The newest runs, without their entries.

        Raises:
            NotFoundError: There is no such watchlist.
        """
        self._find(name)
        found = [_to_run(run) for run in self._shelf.watch_runs(name, limit=limit)]
        return {"runs": found, "returned_count": len(found), "is_demo_data": self._is_demo}

    def digests(self, name: str, *, limit: int) -> Document:
        """The digests among the newest runs, newest first.

        Raises:
            NotFoundError: There is no such watchlist.
        """
        self._find(name)
        found = [run.digest for run in self._shelf.watch_runs(name, limit=limit) if run.digest]
        return {"digests": found, "returned_count": len(found), "is_demo_data": self._is_demo}

    def check(self, plan: Plan) -> str:
        """The cron expression of a plan that can be kept.

        Raises:
            InputError: A name, a rhythm or an entry cannot be used.
        """
        check_name(plan.name)
        seen: set[tuple[str, str]] = set()
        for entry in plan.entries:
            if (entry.kind, entry.input) in seen:
                raise InvalidParameterError(f"`entries`: {entry.input!r} stands there twice")
            seen.add((entry.kind, entry.input))
            if entry.kind == "track":
                read_music_input(entry.input, find_target=self._find_target)
        return check_cron(to_cron(plan.every))

    def _document(self, kept: Watchlist) -> Document:
        following = self._calendar.following(kept.cron, kept.considered_until)
        newest = self._shelf.watch_runs(kept.plan.name, limit=1)
        return {
            **kept.plan.to_document(),
            "cron": kept.cron,
            "next_due_at": to_time(following) if kept.plan.enabled else None,
            "last_run": _to_run(newest[0]) if newest else None,
            "created_at": to_time(kept.created_at),
            "updated_at": to_time(kept.updated_at),
            "is_demo_data": self._is_demo,
        }

    def _find(self, name: str) -> Watchlist:
        found = self._shelf.watchlist(name)
        if found is None:
            raise self._missing(name)
        return found

    def _missing(self, name: str) -> NotFoundError:
        names: Sequence[str] = [kept.plan.name for kept in self._shelf.watchlists()]
        known = ", ".join(names[:10]) or "none yet"
        return NotFoundError(f"There is no watchlist {name[:64]!r}", hint=f"Known are: {known}")


@contextmanager
def open_book(settings: Settings) -> Iterator[WatchBook]:
    """The book of the chosen profile's world; closes its store afterwards.

    Raises:
        ProfileNotChosenError: None is chosen.
        WarehouseError: The store cannot be opened.
    """
    profile = choose_profile(settings)
    home = open_home(settings.data_home, profile.name)
    url = settings.control_url or home.control_url
    with closing(open_control(url, world=home.world)) as control:
        yield WatchBook(control, find_target=profile.find_target, is_demo=is_demo_world(home.world))


def _to_run(run: WatchRun) -> Document:
    digest = run.digest or {}
    return {
        "run_id": run.run_id,
        "watchlist": run.watchlist,
        "status": run.status,
        "origin": run.origin,
        "due_at": to_time(run.due_at),
        "began_at": to_time(run.began_at),
        "ended_at": to_time(run.ended_at),
        "missed_count": run.missed_count,
        "outcome": run.outcome,
        "change_count": digest.get("change_count"),
        "files": digest.get("files"),
        "told": run.told,
    }


def _to_entry(look: Look) -> Document:
    return {
        "kind": look.entry.kind,
        "input": look.entry.input,
        "status": look.status,
        "subject": look.subject,
        "job_id": look.job_id,
        "error": look.error,
    }
