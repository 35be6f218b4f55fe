"""Rules of catalogues: what an import means, which tracks are due. Pure."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal, get_args
from uuid import NAMESPACE_URL, uuid5

from warehouse.records import catalogs
from warehouse.records.errors import InputError, SametrackError
from warehouse.records.jobs import FINAL_STATUSES, Job

# What the lines of an import mean: tracks, duplicates and problems. Pure.
#
# Every line that is not blank becomes a track, a duplicate of one, or a problem that names its
# number: nothing is dropped silently.

INPUT_COLUMNS = ("track", "input", "music_id", "link", "url", "video", "id", "音乐id", "链接")
"""Names of the column that holds the track, the first one that a line fills."""
TITLE_COLUMNS = ("label", "title", "name", "song", "歌名")
ARTIST_COLUMNS = ("artist", "artists", "歌手")
PRIORITY_COLUMNS = ("priority", "优先级")
ROUNDED = re.compile(r"[0-9]+([.,][0-9]+)?[eE]\+?[0-9]+")
"""A long number as a spreadsheet shows it: the last digits are lost."""

ProblemReason = Literal[
    "no_track", "not_a_track", "rounded_number", "bad_priority", "too_many_tracks", "unreadable"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportLine:
    """One line of a source: its number, from 1, and its values by column name."""

    number: int
    values: Mapping[str, str]

    def first_of(self, names: Iterable[str]) -> str | None:
        """Return the first value among these columns that is not blank."""
        values = {
            name.casefold().strip().replace(" ", "_"): value.strip()
            for name, value in self.values.items()
        }
        return next((values[name] for name in names if values.get(name)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportProblem:
    """A line that is not imported, and why."""

    line: int
    input: str | None
    reason: ProblemReason
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateLine:
    """A line that names the track of an earlier one; its columns fill what that one leaves open."""

    line: int
    first_line: int
    input: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOutcome:
    """The tracks of a source in order, with the number of their first line, and the rest."""

    tracks: tuple[catalogs.ImportedTrack, ...] = ()
    lines: tuple[int, ...] = ()
    duplicates: tuple[DuplicateLine, ...] = ()
    problems: tuple[ImportProblem, ...] = ()


def plan_import(
    lines: Iterable[ImportLine],
    *,
    identify: Callable[[str], str],
    known: Iterable[catalogs.ImportedTrack] = (),
) -> ImportOutcome:
    """Turn lines into tracks.

    Args:
        lines: The lines of the source.
        identify: Returns the key of an input, or raises an `InputError`.
        known: The tracks that the catalogue has: they count against its limit, and a line that
            names one of them is to update it (`updated_track`).
    """
    known_keys = frozenset(track.key for track in known)
    free = catalogs.MAX_TRACKS - len(known_keys)
    tracks: dict[str, tuple[catalogs.ImportedTrack, int]] = {}  # with the number of the first line
    duplicates: list[DuplicateLine] = []
    problems: list[ImportProblem] = []
    for line in lines:
        if not any(value.strip() for value in line.values.values()):
            continue
        track = _to_track(line, identify)
        if isinstance(track, ImportProblem):
            problems.append(track)
        elif track.key in tracks:
            first, number = tracks[track.key]
            tracks[track.key] = _merge(first, track), number
            duplicates.append(DuplicateLine(line=line.number, first_line=number, input=track.input))
        # Updates of known tracks are possible in a full catalogue.
        elif track.key not in known_keys and free <= 0:
            message = f"a catalogue has at most {catalogs.MAX_TRACKS:,} tracks"
            problems.append(_problem(line, track.input, "too_many_tracks", message))
        else:
            free -= track.key not in known_keys
            tracks[track.key] = track, line.number
    return ImportOutcome(
        tracks=tuple(track for track, _ in tracks.values()),
        lines=tuple(number for _, number in tracks.values()),
        duplicates=tuple(duplicates),
        problems=tuple(problems),
    )


def _to_track(
    line: ImportLine, identify: Callable[[str], str]
) -> catalogs.ImportedTrack | ImportProblem:
    """Return the track of a line, or why the line is not imported."""
    text = line.first_of(INPUT_COLUMNS)
    if text is None:
        return _problem(line, None, "no_track", "the line names no track")
    if ROUNDED.fullmatch(text):
        message = "a spreadsheet has rounded this number: format the column as text, enter it again"
        return _problem(line, text, "rounded_number", message)
    priority = _read_priority(line.first_of(PRIORITY_COLUMNS))
    if priority is None:
        most = catalogs.MAX_PRIORITY
        message = f"the priority is no whole number from -{most} to {most}"
        return _problem(line, text, "bad_priority", message)
    try:
        key = identify(text)
    except InputError as error:
        return _problem(line, text, "not_a_track", str(error))
    names = (line.first_of(TITLE_COLUMNS), line.first_of(ARTIST_COLUMNS))
    return catalogs.ImportedTrack(
        key=key,
        input=text,
        label=" - ".join(name for name in names if name) or None,
        priority=priority,
        columns=dict(line.values),
    )


def _problem(
    line: ImportLine, text: str | None, reason: ProblemReason, message: str
) -> ImportProblem:
    return ImportProblem(line=line.number, input=text, reason=reason, message=message)


def _read_priority(text: str | None) -> int | None:
    """Return the priority: 0 if the cell is empty, None if it is not a number in the range."""
    if text is None:
        return 0
    if not re.fullmatch(r"[+-]?[0-9]{1,4}(\.0+)?", text):  # a spreadsheet may write 5 as 5.0
        return None
    value = int(float(text))
    return value if abs(value) <= catalogs.MAX_PRIORITY else None


def _merge(first: catalogs.ImportedTrack, later: catalogs.ImportedTrack) -> catalogs.ImportedTrack:
    """Return the first track; the later line fills its empty columns, the higher priority wins."""
    later_columns = {name: value for name, value in later.columns.items() if value.strip()}
    first_columns = {name: value for name, value in first.columns.items() if value.strip()}
    priorities = [line.priority for line in (first, later) if _states_priority(line.columns)]
    return replace(
        first,
        label=first.label or later.label,
        priority=max(priorities, default=0),
        columns={**first.columns, **later_columns, **first_columns},
    )


def updated_track(
    known: catalogs.ImportedTrack, new: catalogs.ImportedTrack
) -> catalogs.ImportedTrack:
    """Return a track of the catalogue as a new import updates it; columns left empty stay."""
    stated = {name: value for name, value in new.columns.items() if value.strip()}
    return replace(
        new,
        label=new.label or known.label,
        priority=new.priority if _states_priority(stated) else known.priority,
        columns={**known.columns, **stated},
    )


def _states_priority(columns: Mapping[str, str]) -> bool:
    return ImportLine(number=0, values=columns).first_of(PRIORITY_COLUMNS) is not None


# Which tracks of a catalogue are due, how many may be submitted, what their jobs leave. Pure.
#
# The plan follows from the rows of the tracks alone, so a run that is interrupted at any moment
# goes on with the plan that it would have made.

TrackState = Literal["running", "failed", "fresh", "stale", "never_read"]
TRACK_STATES: tuple[TrackState, ...] = get_args(TrackState)
StopReason = Literal[
    "nothing_due", "track_budget", "request_budget", "disk_full", "cancelled", "taken_over"
]

RETRY_AFTER = timedelta(days=1)
"""Retrying a failed scan sooner would spend the day's budget on a source that refuses."""
_DAY_S = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class DaySpending:
    """What the scans submitted on a day (UTC) have cost so far: their number and requests."""

    tracks: int = 0
    requests: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionPlan:
    """The tracks to submit now, and why no more are due; `stop` is None if jobs are under way."""

    tracks: tuple[catalogs.CatalogTrack, ...] = ()
    stop: StopReason | None = None


def day_number(moment: datetime) -> int:
    """Return the days since 1970 (UTC)."""
    return int(moment.timestamp() // _DAY_S)


def state_of(
    track: catalogs.CatalogTrack, settings: catalogs.CatalogSettings, now: datetime
) -> TrackState:
    """Return the state of a track. A failure counts until a later scan succeeds."""
    if track.job_id is not None:
        return "running"
    if track.failed_at is not None:
        return "failed"
    if track.result_at is None:
        return "never_read"
    return "fresh" if now - track.result_at < timedelta(days=settings.fresh_days) else "stale"


def is_due(track: catalogs.CatalogTrack, settings: catalogs.CatalogSettings, now: datetime) -> bool:
    """Whether a scan of the track is to be submitted."""
    state = state_of(track, settings, now)
    if state == "failed" and track.failed_at is not None:
        return now - track.failed_at >= RETRY_AFTER
    return state in {"never_read", "stale"}


def due_tracks(
    tracks: Iterable[catalogs.CatalogTrack], settings: catalogs.CatalogSettings, now: datetime
) -> list[catalogs.CatalogTrack]:
    """Return the due tracks: by priority, then those without a result, then the oldest result."""

    def urgency(track: catalogs.CatalogTrack) -> tuple[int, float, float, int]:
        age = 0.0 if track.result_at is None else track.result_at.timestamp()
        # Among tracks without a result, those that have failed come last.
        failure = 0.0 if track.failed_at is None else track.failed_at.timestamp()
        return (-track.given.priority, age, failure, track.position)

    return sorted((track for track in tracks if is_due(track, settings, now)), key=urgency)


def next_submissions(
    due: Sequence[catalogs.CatalogTrack],
    settings: catalogs.CatalogSettings,
    *,
    running: int,
    at_once: int,
    spent: DaySpending,
) -> SubmissionPlan:
    """Return what to submit now, with at most `at_once` jobs under way."""
    if not due:
        return SubmissionPlan(stop="nothing_due")
    # Jobs under way go on, so the budget of requests is exceeded by their requests at most.
    if settings.requests_per_day is not None and spent.requests >= settings.requests_per_day:
        return SubmissionPlan(stop="request_budget")
    budget = len(due)
    if settings.tracks_per_day is not None:
        budget = settings.tracks_per_day - spent.tracks
        if budget <= 0:
            return SubmissionPlan(stop="track_budget")
    return SubmissionPlan(tracks=tuple(due[: max(0, min(budget, at_once - running))]))


def count_states(
    tracks: Iterable[catalogs.CatalogTrack], settings: catalogs.CatalogSettings, now: datetime
) -> dict[TrackState, int]:
    """Return how many tracks are in each state, zeros included."""
    counts = Counter(state_of(track, settings, now) for track in tracks)
    return {state: counts[state] for state in TRACK_STATES}


def ended_spending(tracks: Iterable[catalogs.CatalogTrack], now: datetime) -> DaySpending:
    """Return what ended scans have cost today, without the requests of running ones."""
    today = [track for track in tracks if track.charged_day == day_number(now)]
    return DaySpending(
        tracks=sum(track.charged_scans for track in today),
        requests=sum(track.charged_requests for track in today),
    )


def next_job_id(catalog: catalogs.Catalog, track: catalogs.CatalogTrack) -> str:
    """Return the id for the next job of a track.

    A catalogue that was removed and imported anew begins with new ids.
    """
    # It follows from the row, so a run that was killed between creating the job and storing its
    # id finds the same job again.
    return _job_id(catalog, track, track.submission_count)


def is_own_job(catalog: catalogs.Catalog, track: catalogs.CatalogTrack) -> bool:
    """Whether the job of a track was created for it, and not joined or found stored."""
    return track.job_id == _job_id(catalog, track, track.submission_count - 1)


def _job_id(catalog: catalogs.Catalog, track: catalogs.CatalogTrack, submission: int) -> str:
    name = f"{catalog.name} {catalog.created_at.timestamp()} {track.given.key}"
    return str(uuid5(NAMESPACE_URL, f"catalog {name} {submission}"))


def submitted(
    track: catalogs.CatalogTrack, job: Job, *, now: datetime, costs_a_scan: bool
) -> catalogs.CatalogTrack:
    """Return the track with its job; only a job that scans is charged to the day's budget."""
    updated = replace(track, job_id=job.job_id, submission_count=track.submission_count + 1)
    if not costs_a_scan:
        return updated
    today = day_number(now)
    if track.charged_day != today:
        updated = replace(updated, charged_day=today, charged_requests=0, charged_scans=0)
    return replace(updated, charged_scans=updated.charged_scans + 1)


def refused(
    track: catalogs.CatalogTrack, error: SametrackError, *, now: datetime
) -> catalogs.CatalogTrack:
    """Return a track that no job was created for."""
    return replace(track, failed_at=now, error=error.to_document())


def settled(
    track: catalogs.CatalogTrack, job: Job | None, *, now: datetime, is_charged: bool
) -> catalogs.CatalogTrack:
    """Return the track after its job, unchanged while the job is under way.

    A job that was cancelled, or that retention has deleted, leaves the track as it was before.
    """
    if job is None:
        return replace(track, job_id=None)
    if job.status not in FINAL_STATUSES:
        return track
    requests = job.progress.requests_used if is_charged else 0
    idle = replace(track, job_id=None, charged_requests=track.charged_requests + requests)
    if job.status == "failed":
        return replace(idle, failed_at=job.finished_at or now, error=job.error)
    if job.status == "cancelled":
        return idle
    is_same_result = track.result_job_id == job.job_id
    return replace(
        idle,
        music_id=job.music_id or track.music_id,
        result_job_id=job.job_id,
        result_at=job.finished_at or now,
        # A stored result that is returned again must not become its own predecessor.
        previous_job_id=track.previous_job_id if is_same_result else track.result_job_id,
        failed_at=None,
        error=None,
    )


def has_outcome(before: catalogs.CatalogTrack, after: catalogs.CatalogTrack) -> bool:
    """Whether the job that a track had before has left a result or an error."""
    return (before.result_at, before.failed_at) != (after.result_at, after.failed_at)
