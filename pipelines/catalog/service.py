"""Import, list, inspect and remove catalogues. Blocking calls on the control store.

Starts no scan: `run.py` submits what is due.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

from pipelines.captures.inputs import InputTarget, read_music_input
from pipelines.catalog import rules
from pipelines.catalog.rules import state_of
from pipelines.catalog.run_requests import stop_run
from pipelines.catalog.sources import song_lists
from pipelines.documents.videos import to_time
from warehouse.control import ControlStore, catalogs, jobs
from warehouse.records.catalogs import Catalog, CatalogTrack
from warehouse.records.errors import InvalidParameterError
from warehouse.records.jobs import Job
from warehouse.records.values import Document
from warehouse.records.watchlists import check_name

# Catalogues, tracks and imports as JSON values, for the API and the command line. Pure.


def to_catalog_document(status: "CatalogStatus") -> Document:
    """Return where a catalogue stands, without its tracks."""
    catalog = status.catalog
    return {
        "name": catalog.name,
        "settings": catalog.settings.to_document(),
        "created_at": to_time(catalog.created_at),
        "updated_at": to_time(catalog.updated_at),
        "read_at": to_time(status.read_at),
        "track_count": len(status.tracks),
        "states": dict(status.states),
        "due_count": len(status.due),
        "spent_today": asdict(status.spent),
        "same_music": {music_id: list(keys) for music_id, keys in status.same_music.items()},
    }


def to_track_document(status: "CatalogStatus", track: CatalogTrack) -> Document:
    """Return a track of a catalogue."""
    job = status.jobs.get(track.given.key)
    return {
        **asdict(track.given),
        "state": state_of(track, status.catalog.settings, status.read_at),
        "music_id": track.music_id,
        "job_id": track.job_id,
        "stage": None if job is None else job.progress.stage,
        "result_job_id": track.result_job_id,
        "result_at": to_time(track.result_at),
        "previous_job_id": track.previous_job_id,
        "failed_at": to_time(track.failed_at),
        "error": track.error,
    }


def to_import_document(report: "ImportReport") -> Document:
    """Return what an import did."""
    outcome = report.outcome
    return {
        "name": report.name,
        "is_dry_run": report.is_dry_run,
        "track_count": report.track_count,
        "new_count": report.new_count,
        "updated_count": report.updated_count,
        "duplicates": [asdict(line) for line in outcome.duplicates],
        "problems": [asdict(problem) for problem in outcome.problems],
        "lists": [asdict(song_list) for song_list in report.lists],
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What an import did, or would do if `is_dry_run`. Song lists were read in both cases."""

    name: str
    outcome: rules.ImportOutcome
    new_count: int
    updated_count: int
    track_count: int
    lists: tuple[song_lists.ImportedSongList, ...]
    is_dry_run: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogStatus:
    """A catalogue with its tracks, and what follows from them at `read_at`.

    Attributes:
        read_at: Time of reading (UTC).
        due: The tracks to scan, in this order.
        spent: What the scans submitted today have cost, running ones included.
        jobs: The jobs under way, by the key of their track.
        same_music: Keys of the tracks that turned out to be one music id, by that id.
    """

    catalog: Catalog
    read_at: datetime
    tracks: tuple[CatalogTrack, ...]
    states: Mapping[rules.TrackState, int]
    due: tuple[CatalogTrack, ...]
    spent: rules.DaySpending
    jobs: Mapping[str, Job]
    same_music: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogService:
    """Imports, lists and removes catalogues.

    Attributes:
        control: The control store.
        find_target: Finds the first link of the profile's hosts in a text.
        read_songs: Reads a list of songs by its kind and id.
        song_link: Returns the link of a song by its id.
        clock: Returns the current time in UTC.
    """

    control: ControlStore
    find_target: Callable[[str], InputTarget | None]
    read_songs: song_lists.ReadSongList
    song_link: Callable[[str], str]
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def import_lines(
        self,
        name: str,
        lines: Sequence[rules.ImportLine],
        *,
        changes: Mapping[str, object] | None = None,
        dry_run: bool = False,
    ) -> ImportReport:
        """Add the tracks of these lines, or update those that are there. Idempotent.

        Args:
            name: The catalogue; it is created if it does not exist.
            lines: The lines of a source.
            changes: Fields of `CatalogSettings` to set; the others stay.
            dry_run: Report only.

        Raises:
            InvalidParameterError: The name cannot be used, or no line names a track.
        """
        check_name(name, of="catalogue")
        # Lists of songs are read from the music service even in a dry run: their songs are lines.
        expanded = song_lists.expand_song_lists(
            lines,
            find_target=self.find_target,
            read_songs=self.read_songs,
            song_link=self.song_link,
        )

        def identify(text: str) -> str:
            music = read_music_input(text, find_target=self.find_target)
            return f"{music.kind}:{music.value}"

        is_stored = catalogs.get(self.control, name) is not None
        stored = {
            track.given.key: track.given for track in catalogs.read_tracks(self.control, name)
        }
        outcome = rules.plan_import(expanded.lines, identify=identify, known=stored.values())
        # Problems of lists and of single lines, in the order of the source.
        problems = (*outcome.problems, *expanded.problems)
        outcome = replace(
            outcome, problems=tuple(sorted(problems, key=lambda problem: problem.line))
        )
        new = [track for track in outcome.tracks if track.key not in stored]
        # An import without a single track creates no catalogue.
        if not dry_run and (outcome.tracks or is_stored):
            catalogs.change(self.control, name, changes or {})
            catalogs.import_tracks(self.control, name, outcome.tracks, merge=rules.updated_track)
        return ImportReport(
            name=name,
            outcome=outcome,
            new_count=len(new),
            updated_count=len(outcome.tracks) - len(new),
            track_count=len(stored) + len(new),
            lists=expanded.lists,
            is_dry_run=dry_run,
        )

    def listed(self) -> Iterator[CatalogStatus]:
        """Return the status of each catalogue, by name."""
        return (self._status(catalog) for catalog in catalogs.read_all(self.control))

    def names(self) -> list[str]:
        """Return the names of the catalogues. No track is read."""
        return [catalog.name for catalog in catalogs.read_all(self.control)]

    def status(self, name: str) -> CatalogStatus:
        """Return the status of a catalogue.

        Raises:
            InvalidParameterError: There is no such catalogue.
        """
        return self._status(find_catalog(self.control, name))

    def remove(self, name: str) -> None:
        """Remove a catalogue and end its run. Its jobs go on, and results and observations stay.

        Raises:
            InvalidParameterError: There is no such catalogue.
        """
        find_catalog(self.control, name)
        stop_run(self.control, name)
        catalogs.delete_with_tracks(self.control, name)

    def remove_tracks(self, name: str, inputs: Sequence[str]) -> int:
        """Remove tracks by input, key or music id; return how many.

        Raises:
            InvalidParameterError: There is no such catalogue, or it has no such track.
        """
        find_catalog(self.control, name)
        tracks = catalogs.read_tracks(self.control, name)
        keys = []
        for text in inputs:
            matches = (
                track.given.key
                for track in tracks
                if text in {track.given.key, track.given.input, track.music_id}
            )
            key = next(matches, None)
            if key is None:
                raise InvalidParameterError(
                    f"The catalogue {name!r} has no track {text!r}",
                    hint=f"See `sametrack catalog status {name} --tracks`",
                )
            keys.append(key)
        return catalogs.remove_tracks(self.control, name, keys)

    def _status(self, catalog: Catalog) -> CatalogStatus:
        now = self.clock()
        # Jobs may have ended since the last run of the catalogue: store their outcome first.
        before = catalogs.read_tracks(self.control, catalog.name)
        tracks, jobs = settle_tracks(self.control, catalog.name, before, now=now)
        # Different inputs, such as two links, may turn out to be one music id.
        keys: dict[str, list[str]] = defaultdict(list)
        for track in tracks:
            if track.music_id is not None:
                keys[track.music_id].append(track.given.key)
        return CatalogStatus(
            catalog=catalog,
            read_at=now,
            tracks=tuple(tracks),
            states=rules.count_states(tracks, catalog.settings, now),
            due=tuple(rules.due_tracks(tracks, catalog.settings, now)),
            spent=spent_today(tracks, jobs, now),
            jobs=jobs,
            same_music={
                music_id: tuple(track_keys)
                for music_id, track_keys in keys.items()
                if len(track_keys) > 1
            },
        )


def find_catalog(control: ControlStore, name: str) -> Catalog:
    """Return a catalogue.

    Raises:
        InvalidParameterError: There is no such catalogue.
    """
    catalog = catalogs.get(control, check_name(name, of="catalogue"))
    if catalog is None:
        raise InvalidParameterError(
            f"There is no catalogue {name!r}", hint="See `sametrack catalog list`"
        )
    return catalog


def settle_tracks(
    control: ControlStore, name: str, before: Sequence[CatalogTrack], *, now: datetime
) -> tuple[list[CatalogTrack], dict[str, Job]]:
    """Store the outcome of jobs that have ended.

    Returns the tracks in the same order, and the jobs under way by the key of their track.
    """
    tracks: list[CatalogTrack] = []
    under_way: dict[str, Job] = {}
    for track in before:
        if track.job_id is None:
            tracks.append(track)
            continue
        job = jobs.get(control, track.job_id)
        after = rules.settled(track, job, now=now, is_charged=True)
        if after is not track:
            # Without effect if another process has stored the outcome of this job meanwhile.
            catalogs.update_track(control, name, after, job_before=track.job_id)
        elif job is not None:
            under_way[track.given.key] = job
        tracks.append(after)
    return tracks, under_way


def spent_today(
    tracks: Sequence[CatalogTrack], jobs: Mapping[str, Job], now: datetime
) -> rules.DaySpending:
    """Return what the scans submitted today have cost, with those that are under way."""
    ended, today = rules.ended_spending(tracks, now), rules.day_number(now)
    running = sum(
        jobs[track.given.key].progress.requests_used
        for track in tracks
        if track.given.key in jobs and track.charged_day == today
    )
    return replace(ended, requests=ended.requests + running)
