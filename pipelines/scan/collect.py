"""Collect the data of a scan: the track, its video list, the candidate pool and detail pages.

First screens of accounts and hashtags are in `screens.py`, the search is in `search.py`. Each
function reads through the session's captures, adds to its state and to the coverage report. An
upstream refusal ends a source and becomes its stop reason; what was read before is kept.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import replace

from pipelines.platform.refusal_table import SOURCE_ENDING_ERRORS
from pipelines.scan.rules.candidate_pool import (
    KNOWN_MATCHES,
    Candidate,
    Sighting,
    choose_candidates,
    choose_others,
    reserved_places,
)
from pipelines.scan.rules.coverage.genuine_rows import is_row_of
from pipelines.scan.scan_run import ScanRun
from pipelines.scan.state.scan_state import SONG_SURFACE
from warehouse.queries.sound_matches import read_known_matches
from warehouse.records.coverage import SourceCoverage
from warehouse.records.errors import SURFACE_OFF, ProviderUnsupportedError, UpstreamError
from warehouse.records.videos import Track, UnavailableVideo, Video, VideoDetail

REFUSED = "upstream_"
"""How the stop reasons begin that an upstream refusal gives."""
DETAIL_MAX_AGE_S = 6 * 3600  # an older stored detail is read again; with `refresh`, any is
READS_IN_FLIGHT = 16  # the client's per-host limits are tighter; this only bounds memory


def read_track(session: ScanRun) -> Track:
    """Read the track, which every later stage needs.

    Raises:
        UpstreamError: The track could not be read; the job fails with this error.
    """
    before = session.captures.requests_used
    with session.stopwatch.waiting("upstream"):
        track = session.run(session.captures.track(session.music_id))
    session.state.track = track
    add_reads(session, "music_info", since=before, items=1, new=1, stop="completed")
    session.count()
    read_song(session)
    return track


def read_song(session: ScanRun) -> None:
    """Read the song of the track on the music service, once; without it the scan goes on."""
    found, track_id = session.state, _song_of_track(session)
    if track_id is None or track_id in found.songs_asked:
        return
    found.songs_asked.add(track_id)
    before, stop = session.captures.requests_used, "completed"
    try:
        with session.stopwatch.waiting("upstream"):
            found.song = session.run(session.captures.song(track_id))
    except (UpstreamError, ProviderUnsupportedError) as error:
        stop = error.stop_reason
    items = int(found.song is not None)
    add_reads(session, SONG_SURFACE, since=before, items=items, new=items, stop=stop)


def _song_of_track(session: ScanRun) -> str | None:
    """Return the id of the track's song, as its info or a video of its music id names it."""
    found = session.state
    if session.keyword is not None or found.track is None:
        return None
    own = found.videos_of(session.music_id)
    named = (video.music.service_track_id for video in own if video.music)
    return found.track.service_track_id or next(filter(None, named), None)


def read_music_screen(session: ScanRun, music_id: str) -> int:
    """Read the video list of a music id; return how many videos are new to this scan.

    Rows that state another music id are sightings, too: they may carry the recording under that
    one, are never `exact_music_id`, and are what the genuine share of the list is measured by.
    """
    with session.stopwatch.waiting("upstream"):
        walk = session.run(
            session.captures.walk_music(
                music_id, limit=session.parameters.candidate_limit, on_item=session.note_item
            )
        )
    session.items_read = 0
    rows = (*walk.videos, *walk.foreign)
    seen = [to_sighting(session, video, "music_list", music_id) for video in rows]
    return add_sightings(session, seen, walk.coverage)


def add_known_matches(session: ScanRun) -> int:
    """Add the videos whose sound a scan of another track fetched; return how many are new.

    Each matched a reference of this track. They are candidates: this scan judges them by its own
    references.
    """
    if not session.verifies_audio:
        return 0
    known = read_known_matches(session.runtime.engine, session.music_id)
    seen = [
        Sighting(
            aweme_id=row["candidate_aweme_id"],
            surface=KNOWN_MATCHES,
            entity_id=row["candidate_music_id"],
            same_music=False,
            music_id=row["candidate_music_id"] or None,
        )
        for row in known
    ]
    coverage = SourceCoverage(
        surface=KNOWN_MATCHES,
        requests=0,
        pages=0,
        items=len(seen),
        new_items=0,
        stop_reason="completed",
    )
    return add_sightings(session, seen, coverage)


def begin_pool(session: ScanRun) -> tuple[Candidate, ...]:
    """Add the first candidates, before the other sources have been read, and return them.

    The list of a popular music id alone could fill the pool.
    """
    limit = session.parameters.candidate_limit
    return fill_pool(session, limit=reserved_places(limit) if session.verifies_audio else limit)


def fill_pool(session: ScanRun, *, limit: int | None = None) -> tuple[Candidate, ...]:
    """Add the next candidates to the pool and return them.

    Posts without any relation to the song are added only if no other candidate is left, and only
    if audio is verified: otherwise they could never be confirmed.

    Args:
        session: The scan.
        limit: Size of the pool so far; by default `candidate_limit`.
    """
    found = session.state
    limit = session.parameters.candidate_limit if limit is None else limit
    chosen = choose_candidates(
        found.sightings, title=session.song_title, limit=limit, pooled=found.pool
    )
    if not chosen and session.verifies_audio:
        chosen = choose_others(found.sightings, limit=limit, pooled=found.pool)
    found.pool.update({entry.sighting.aweme_id: entry for entry in chosen})
    session.count()
    return chosen


def read_details(session: ScanRun) -> list[Video]:
    """Read the missing detail pages of pooled videos; return the videos that were read."""
    found = session.state
    missing = [
        aweme_id
        for aweme_id in found.pool
        if aweme_id not in found.details and aweme_id not in found.outcomes
    ]
    before = session.captures.requests_used
    stop = session.run(_read_details(session, missing)) if missing else "completed"
    _sort_details(session)
    read = [found.details[name].video for name in missing if name in found.details]
    items = len(read) + sum(name in found.unavailable for name in missing)
    add_reads(session, "video_detail", since=before, items=items, new=len(read), stop=stop)
    read_song(session)
    return read


def _sort_details(session: ScanRun) -> None:
    """Put the details in the order of the pool: which page comes first is a matter of chance."""
    found = session.state
    found.details = {name: found.details[name] for name in found.pool if name in found.details}


async def _read_details(session: ScanRun, aweme_ids: list[str]) -> str:
    """Read the given pages; return the error that ended the reading, else the most frequent one.

    A page that was not read is reported as not reached, whatever the error.
    """
    found = session.state

    async def read(aweme_id: str) -> UpstreamError | None:
        error = None
        try:
            _store_detail(session, aweme_id, await read_detail(session, aweme_id))
        except UpstreamError as met:
            error = met
            found.outcomes[aweme_id] = (error.type, error.detail)
        session.count()
        return error

    def skip(aweme_id: str, ending: UpstreamError) -> None:
        found.outcomes[aweme_id] = ("not_reached", ending.stop_reason)

    errors = await read_until_refused(session, aweme_ids, read, skip)
    done = found.read_candidates()
    found.not_reached += [f"video_detail:{name}" for name in aweme_ids if name not in done]
    ending = ending_error(errors)
    if ending is not None:
        return ending.stop_reason
    counts = Counter(error.stop_reason for error in errors)
    return max(sorted(counts), key=counts.__getitem__, default="completed")


async def read_detail(session: ScanRun, aweme_id: str) -> VideoDetail | UnavailableVideo:
    """Read the detail page of a video; a recent stored one is used, unless `refresh` is set."""
    age = 0 if session.parameters.refresh else DETAIL_MAX_AGE_S
    with session.stopwatch.waiting("upstream"):
        return await session.captures.video(aweme_id, max_age_s=age)


def _store_detail(session: ScanRun, aweme_id: str, read: VideoDetail | UnavailableVideo) -> None:
    found = session.state
    if isinstance(read, UnavailableVideo):
        found.unavailable[aweme_id] = read
        found.outcomes[aweme_id] = ("unavailable", read.filter_reason or read.reason)
    else:
        found.details[aweme_id] = read


async def run_all[T](coroutines: Iterable[Coroutine[object, object, T]]) -> list[T]:
    """Run coroutines concurrently and return their results in order.

    The first error cancels the others and is raised unwrapped once they have ended.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(coroutine) for coroutine in coroutines]
    except BaseExceptionGroup as faults:
        raise faults.exceptions[0] from faults
    return [task.result() for task in tasks]


async def run_each[Item, T](
    session: ScanRun,
    items: Iterable[Item],
    work: Callable[[Item], Awaitable[T]],
    *,
    at_once: int,
) -> list[T]:
    """Do some work on each item, `at_once` of them at a time; as `run_all`, until it is cancelled.

    Raises:
        RunCancelledError: Cancellation was requested.
    """
    gate = asyncio.Semaphore(at_once)

    async def one(item: Item) -> T:
        async with gate:
            session.check_cancelled()
            return await work(item)

    return await run_all(map(one, items))


async def read_until_refused(
    session: ScanRun,
    names: Iterable[str],
    read: Callable[[str], Awaitable[UpstreamError | None]],
    skip: Callable[[str, UpstreamError], object],
) -> list[UpstreamError]:
    """Read several things of one source, concurrently, until a refusal ends it.

    Args:
        session: The scan.
        names: What to read.
        read: Reads one; returns the error that it met.
        skip: Called instead after a refusal, with the refusal.

    Returns:
        The errors in the order they were met; `ending_error` says which ended the reading.
    """
    errors: list[UpstreamError] = []

    async def one(name: str) -> None:
        ending = ending_error(errors)
        if ending is not None:
            skip(name, ending)
            return
        error = await read(name)
        if error is not None:
            errors.append(error)

    await run_each(session, names, one, at_once=READS_IN_FLIGHT)
    return errors


def ending_error(errors: Iterable[UpstreamError]) -> UpstreamError | None:
    """Return the first error after which a source is asked for nothing more."""
    return next((error for error in errors if isinstance(error, SOURCE_ENDING_ERRORS)), None)


def to_sighting(session: ScanRun, video: Video, surface: str, entity_id: str) -> Sighting:
    """Convert a listed video to a sighting; `same_music` is set if its music id is verified.

    A row of a music list that names another music id is not `same_music`, whatever list it is in.
    """
    sound = video.music.music_id if video.music else None
    known = {session.music_id, *session.state.verified}
    return Sighting(
        aweme_id=video.aweme_id,
        surface=surface,
        entity_id=entity_id,
        same_music=is_row_of(sound, surface=surface, entity_id=entity_id, known=known),
        music_id=sound,
        desc=video.desc,
        hashtag_names=tuple(tag.name for tag in video.hashtags or ()),
        digg_count=video.statistics.digg_count,
    )


def add_sightings(session: ScanRun, seen: list[Sighting], coverage: SourceCoverage) -> int:
    """Add the sightings of a list and its coverage; return how many videos are new."""
    fresh = {sighting.aweme_id for sighting in seen} - session.state.seen_ids
    session.state.seen_ids |= fresh
    session.state.sightings.extend(seen)
    add_coverage(session, replace(coverage, new_items=len(fresh)))
    session.count()
    return len(fresh)


def add_reads(
    session: ScanRun, surface: str, *, since: int | None = None, items: int, new: int, stop: str
) -> None:
    """Add things that were read one by one, a page each, to the coverage report.

    `since`: the requests that the scan had used before; without it, none were needed.
    """
    requests = 0 if since is None else session.captures.requests_used - since
    entry = SourceCoverage(
        surface=surface, requests=requests, pages=items, items=items, new_items=new,
        stop_reason=stop,
    )  # fmt: skip
    add_coverage(session, entry)


def add_coverage(session: ScanRun, entry: SourceCoverage) -> None:
    """Add an entry to the coverage report, unless there was nothing to read.

    A source that was refused without a request (a closed circuit, a host outside the profile, a
    surface that is off) has an entry, too: its stop reason is what a reader must know.
    """
    if entry.requests or entry.items or entry.stop_reason.startswith((REFUSED, SURFACE_OFF)):
        session.state.coverage_report.append(entry)
