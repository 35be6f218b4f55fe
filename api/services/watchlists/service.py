"""Watchlists: creating, changing and reading them, their runs and their digests.

Blocking calls on the control store. It starts nothing: a requested run is started by the
orchestrator's sensor or by `sametrack watchlist run`. Not here: HTTP, files, running.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from api.responses.errors import NotFoundError
from api.schemas.extensions import watchlists as schemas
from pipelines.captures.inputs import InputTarget, read_music_input
from pipelines.documents.videos import to_document
from pipelines.open_stores import open_control_of
from pipelines.platform.providers import choose_profile
from pipelines.settings import Settings
from pipelines.watchlists.schedule import next_time, to_cron
from warehouse.control import ControlStore, watchlists
from warehouse.home import is_demo_world, open_home
from warehouse.records import watchlists as watchlist_records
from warehouse.records.alerts import AlertDelivery
from warehouse.records.errors import InvalidParameterError
from warehouse.records.jobs import Origin
from warehouse.records.values import ReadOnlyDocument

PATH = "/api/v1/sametrack/watchlists"


@dataclass(frozen=True, eq=False)
class WatchlistService:
    """Watchlists and their runs.

    Every method with the name of a watchlist raises `NotFoundError` if no watchlist has the name.

    Attributes:
        store: The control store.
        find_target: Parses a link.
        is_demo: True if observations are demo data.
    """

    store: ControlStore
    find_target: Callable[[str], InputTarget | None]
    is_demo: bool

    def listed(self) -> schemas.WatchlistList:
        """Return all watchlists, sorted by name."""
        documents = [self._document(stored) for stored in watchlists.read_all(self.store)]
        return {
            "watchlists": documents,
            "returned_count": len(documents),
            "is_demo_data": self.is_demo,
        }

    def plans(self) -> dict[str, watchlist_records.WatchlistPlan]:
        """Return the stored plans by name."""
        return {stored.plan.name: stored.plan for stored in watchlists.read_all(self.store)}

    def read(self, name: str) -> schemas.WatchlistDocument:
        """Return one watchlist."""
        return self._document(self._find(name))

    def create(self, plan: watchlist_records.WatchlistPlan) -> schemas.WatchlistDocument:
        """Create a watchlist. Its first run is due at the next scheduled time.

        Raises:
            InputError: A field is invalid, or the name is taken.
        """
        # The store decides whether the name is taken: two callers may create it at once.
        if not watchlists.create(self.store, plan, self.check(plan)):
            raise InvalidParameterError(
                f"`name`: watchlist {plan.name!r} already exists",
                hint="Change it with PATCH, or choose another name",
            )
        return self.read(plan.name)

    def change(self, name: str, fields: ReadOnlyDocument) -> schemas.WatchlistDocument:
        """Replace some fields of a plan, in the form of `WatchlistPlan.to_document`.

        Raises:
            InputError: A field is invalid.
        """

        def merge(
            before: watchlist_records.WatchlistPlan,
        ) -> tuple[watchlist_records.WatchlistPlan, str]:
            stored = before.to_document()
            # One threshold may change without the others.
            thresholds = {**stored["thresholds"], **fields.get("thresholds", {})}
            plan = watchlist_records.parse_plan(
                {**stored, **fields, "thresholds": thresholds, "name": name}
            )
            return plan, self.check(plan)

        if not watchlists.change(self.store, name, merge):
            raise self._missing(name)
        return self.read(name)

    def replace(self, plan: watchlist_records.WatchlistPlan) -> None:
        """Replace a complete plan.

        Raises:
            InputError: A field is invalid.
        """
        if not watchlists.replace_plan(self.store, plan, self.check(plan)):
            raise self._missing(plan.name)

    def delete(self, name: str) -> schemas.WatchlistDeleted:
        """Delete a watchlist and its runs. Digest files are kept."""
        if not watchlists.delete_with_runs(self.store, name):
            raise self._missing(name)
        return {"name": name, "deleted": True, "is_demo_data": self.is_demo}

    def run(self, name: str, *, origin: Origin) -> schemas.WatchRunDetail:
        """Request a run now, or return the run in progress."""
        run_id = watchlists.request_run(self.store, name, origin=origin)
        if run_id is None:
            raise self._missing(name)
        return self.run_of(name, run_id)

    def run_of(self, name: str, run_id: str) -> schemas.WatchRunDetail:
        """Return one run with its entries and, once finished, its digest.

        Raises:
            NotFoundError: The run does not exist or belongs to another watchlist.
        """
        run = watchlists.get_run(self.store, run_id)
        if run is None or run.watchlist != name:
            raise NotFoundError(
                f"Run {run_id[:64]!r} of watchlist {name[:64]!r} was not found",
                hint="List the runs of the watchlist",
            )
        return {
            **self._to_runs([run])[0],
            "entries": [
                to_document(
                    schemas.WatchRunEntry, check, kind=check.entry.kind, input=check.entry.input
                )
                for check in watchlists.read_checks(self.store, run_id)
            ],
            "digest": run.digest,
            "is_demo_data": self.is_demo,
        }

    def runs(self, name: str, *, limit: int) -> schemas.WatchRunList:
        """Return the newest runs, without their entries."""
        self._find(name)
        runs = self._to_runs(watchlists.newest_runs(self.store, name, limit=limit))
        return {"runs": runs, "returned_count": len(runs), "is_demo_data": self.is_demo}

    def digests(self, name: str, *, limit: int) -> schemas.WatchDigestList:
        """Return the newest digests, newest first."""
        self._find(name)
        runs = watchlists.newest_runs(self.store, name, limit=limit, with_digest=True)
        digests = [run.digest for run in runs if run.digest]
        return {"digests": digests, "returned_count": len(digests), "is_demo_data": self.is_demo}

    def check(self, plan: watchlist_records.WatchlistPlan) -> str:
        """Validate a plan and return its cron expression.

        Raises:
            InputError: The name, the schedule, the number of entries or an entry is invalid.
        """
        watchlist_records.check_name(plan.name)
        most = watchlist_records.MAX_ENTRIES
        if not 0 < len(plan.entries) <= most:
            raise InvalidParameterError(
                f"`entries`: {len(plan.entries)} given, a watchlist has 1 to {most}",
                hint="Spread them over several watchlists",
            )
        earlier: set[tuple[str, str]] = set()
        for entry in plan.entries:
            if (entry.kind, entry.input) in earlier:
                raise InvalidParameterError(f"`entries`: {entry.input!r} is listed twice")
            earlier.add((entry.kind, entry.input))
            # Only the form is checked; what an input leads to is read by the run.
            if entry.kind == "track":
                read_music_input(entry.input, find_target=self.find_target)
        return to_cron(plan.every)

    def _document(self, stored: watchlist_records.Watchlist) -> schemas.WatchlistDocument:
        plan = stored.plan
        # Due times until `considered_until` have their runs already, or were missed.
        next_due_at = next_time(stored.cron, stored.considered_until)
        newest = watchlists.newest_runs(self.store, plan.name, limit=1)
        compared = watchlists.newest_runs(self.store, plan.name, limit=1, with_digest=True)
        # What the inputs led to. A run that goes on has not resolved all of them yet.
        resolved = {
            (entry["kind"], entry["input"]): entry
            for run in compared
            for entry in (run.digest or {}).get("entries", ())
        }
        entries: list[schemas.WatchlistEntryDocument] = []
        for entry in plan.entries:
            outcome = resolved.get((entry.kind, entry.input), {})
            entries.append(
                {
                    "kind": entry.kind,
                    "input": entry.input,
                    "subject": outcome.get("subject"),
                    "title": outcome.get("title"),
                }
            )
        return to_document(
            schemas.WatchlistDocument,
            {**plan.to_document(), "entries": entries},
            cron=stored.cron,
            next_due_at=next_due_at if plan.enabled else None,
            last_run=self._to_runs(newest)[0] if newest else None,
            created_at=stored.created_at,
            updated_at=stored.updated_at,
            is_demo_data=self.is_demo,
        )

    def _to_runs(
        self, runs: Sequence[watchlist_records.WatchlistRun]
    ) -> list[schemas.WatchRunDocument]:
        deliveries = watchlists.read_alerts(self.store, [run.run_id for run in runs])
        return [
            to_document(
                schemas.WatchRunDocument,
                run,
                change_count=(run.digest or {}).get("change_count"),
                files=(run.digest or {}).get("files"),
                alerts=[_to_delivery(delivery) for delivery in deliveries[run.run_id]],
            )
            for run in runs
        ]

    def _find(self, name: str) -> watchlist_records.Watchlist:
        stored = watchlists.get(self.store, name)
        if stored is None:
            raise self._missing(name)
        return stored

    def _missing(self, name: str) -> NotFoundError:
        names = [stored.plan.name for stored in watchlists.read_all(self.store)]
        existing = ", ".join(names[:10]) or "none"
        return NotFoundError(
            f"Watchlist {name[:64]!r} was not found", hint=f"Existing watchlists: {existing}"
        )


@contextmanager
def open_watchlist_service(settings: Settings) -> Iterator[WatchlistService]:
    """Open the watchlists of the chosen profile and close the store afterwards.

    Raises:
        ProfileNotChosenError: No profile is chosen.
        WarehouseError: The store cannot be opened.
    """
    profile = choose_profile(settings)
    home = open_home(settings.data_home, profile.name)
    with open_control_of(settings, home) as control:
        yield WatchlistService(
            control, find_target=profile.find_target, is_demo=is_demo_world(home.world)
        )


def _to_delivery(delivery: AlertDelivery) -> schemas.AlertDeliveryDocument:
    attempts = [to_document(schemas.AlertAttemptDocument, attempt) for attempt in delivery.attempts]
    return to_document(schemas.AlertDeliveryDocument, delivery, attempts=attempts)
