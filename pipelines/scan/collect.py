"""Collect the data of a scan: track, lists, first screens, candidate pool, pages, profiles.

Each function reads through the captures of a run, adds to its state and to the coverage report. An
upstream refusal ends a source and becomes its stop reason; what was read before is kept. Not here:
the search (`search.py`), and which videos, authors and hashtags are read (`rules/`).
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial

from pydantic import TypeAdapter

from pipelines.captures.chart import lyric_terms, song_terms
from pipelines.captures.walks import FinishedSearch, ListWalk, to_search_limits
from pipelines.documents.result_types import SearchSummary, StoredSearch
from pipelines.platform.refusal_table import SOURCE_ENDING_ERRORS
from pipelines.scan.rules import candidate_pool
from pipelines.scan.rules.expansion import accounts_by_likes, authors_to_scan, hashtags_to_scan
from pipelines.scan.rules.search import (
    scene_terms,
    search_terms,
    to_search_related,
    to_search_summary,
)
from pipelines.scan.scan_run import ScanRun
from pipelines.scan.state.scan_state import SONG_SURFACE
from warehouse.queries.captures import read_search_union
from warehouse.queries.catalogs import read_known_matches
from warehouse.queries.results import read_latest_accounts, read_latest_videos
from warehouse.records.coverage import SourceCoverage
from warehouse.records.errors import (
    SURFACE_OFF,
    ProviderUnsupportedError,
    RefusedLatelyError,
    UnresolvedIdError,
    UpstreamError,
)
from warehouse.records.videos import Account, Track, Unavailability, Video

# The guest search of a scan: its results become candidates and a list of their own.

_UNION = TypeAdapter(dict[str, tuple[str, ...]])
NO_TERM = "search:no_title_to_search"


def read_search(run: ScanRun) -> int:
    """Search for the song; return how many videos are new to this scan.

    A refused search ends with the refusal as stop reason, and the scan continues.
    """
    if not is_search_wanted(run) or not run.parameters.search_candidate_limit:
        return 0
    if run.keyword is not None:
        terms = scene_terms(run.keyword)
    else:
        track, song, title = run.state.track, run.state.song, run.song_title
        # The author of a user sound is its uploader, not the artist of a song named inside it.
        author = track.author if track and title == track.title else None
        # The music service has further names of the song, and lines of its lyrics.
        official = (*reversed(song_terms(song)), *lyric_terms(song)) if song is not None else ()
        keywords = run.parameters.search_keywords
        terms = search_terms(title, author, keywords, official=official)
    if not terms:
        run.state.not_reached.append(NO_TERM)
        return 0
    return walk_search(run, terms)


def is_search_wanted(run: ScanRun) -> bool:
    """Whether the job asks for a search, however small."""
    return run.parameters.search_enabled or run.keyword is not None


def walk_search(run: ScanRun, terms: tuple[str, ...]) -> int:
    """Search for these terms and add what this and earlier searches show; return the new videos.

    The limits count the union of all searches, so a term may need no request at all.
    """
    state, engine = run.state, run.runtime.engine

    def read_earlier() -> dict[str, tuple[str, ...]]:
        union = read_search_union(engine, terms)
        return {aweme_id: tuple(shown_by) for aweme_id, shown_by in union.items()}

    # The terms that showed each video in earlier searches, by video id. The journal keeps them for
    # later runs of this job, because its own pages are stored meanwhile.
    earlier: dict[str, tuple[str, ...]] = {}
    if not run.parameters.refresh:
        earlier = run.journal.once("search_union", _UNION, read_earlier)
    with run.stopwatch.waiting("upstream"):
        walk = run.wait_for(
            run.captures.search(terms, limits=to_search_limits(run.parameters), known=earlier)
        )
    state.search = walk.finished()
    state.search_union = {
        aweme_id: tuple(
            dict.fromkeys((*earlier.get(aweme_id, ()), *walk.shown_by.get(aweme_id, ())))
        )
        for aweme_id in dict.fromkeys((*earlier, *walk.shown_by))
    }
    new = _add_sightings(run, walk.videos)
    for entry in walk.coverage:
        add_coverage(run, entry)

    # Add what only earlier searches showed. The stop reason of this source is that of the first
    # term that was not searched for again.
    missing = [aweme_id for aweme_id in earlier if aweme_id not in walk.shown_by]
    latest = read_latest_videos(engine, missing)
    videos = [latest[aweme_id] for aweme_id in missing if aweme_id in latest]
    new_earlier = _add_sightings(run, videos)
    skipped = (term.stop_reason for term in walk.terms if not term.requests and not term.pages)
    coverage = SourceCoverage(
        surface="search",
        requests=0,
        pages=0,
        items=len(videos),
        new_items=new_earlier,
        stop_reason=next(skipped, "completed"),
    )
    add_coverage(run, coverage)
    run.update_progress()
    return new + new_earlier


def _add_sightings(run: ScanRun, videos: Sequence[Video]) -> int:
    """Add a sighting for each term that showed a video: every term is a source of its own."""
    state = run.state
    new = {video.aweme_id for video in videos} - state.seen_ids
    state.seen_ids |= new
    state.sightings.extend(
        to_sighting(run, video, "search", term)
        for video in videos
        for term in state.search_union[video.aweme_id]
    )
    return len(new)


def search_related(run: ScanRun) -> StoredSearch:
    """Build `search_related` from the union of all searches for these terms."""
    state, search = run.state, _finished_search(run)
    # A video comes from its detail page if it was read, else from the newest search.
    videos = {video.aweme_id: video for video in search.videos}
    videos |= state.details
    earlier = sorted(set(state.search_union) - set(videos))
    if earlier:
        videos |= read_latest_videos(run.runtime.engine, earlier)
    return to_search_related(
        [
            videos[aweme_id]
            for aweme_id in state.search_union
            if aweme_id in videos and aweme_id not in state.unavailable
        ],
        search=search,
        shown_by=state.search_union,
        title=run.song_title,
        verified=state.verified,
    )


def search_summary(run: ScanRun) -> SearchSummary:
    """Build `discovery.official_comprehensive_search`."""
    return to_search_summary(_finished_search(run), union=len(run.state.search_union))


def _finished_search(run: ScanRun) -> FinishedSearch:
    """Return the search of this scan; a search without terms if there was none."""
    budget = run.parameters.search_request_budget
    nothing = FinishedSearch(
        terms=(), videos=(), shown_by={}, requests_used=0, request_budget=budget
    )
    return run.state.search or nothing


# The stop reasons that an upstream refusal gives begin with this.
REFUSED = "upstream_"
DETAIL_MAX_AGE_S = 6 * 3600  # an older stored detail is read again; with `refresh`, any is
READS_IN_FLIGHT = 16  # the client's per-host limits are tighter; this only bounds memory
CANDIDATES_PER_AUTHOR = 3  # one author screen is read per so many places in the pool
CANDIDATES_PER_HASHTAG = 15  # a hashtag's first screen mixes many songs, so fewer are read
PROFILE_MAX_AGE = timedelta(minutes=10)  # a stored profile that is older is read again
_ACCOUNTS = TypeAdapter(dict[str, Account])


def read_track(run: ScanRun) -> Track:
    """Read the track, which every later stage needs.

    Raises:
        UpstreamError: The track could not be read; the job fails with this error.
    """
    before = run.captures.requests_used
    with run.stopwatch.waiting("upstream"):
        track = run.wait_for(run.captures.track(run.music_id))
    run.state.track = track
    add_reads(run, "music_info", since=before, items=1, new=1, stop="completed")
    run.update_progress()
    read_song(run)
    return track


def read_song(run: ScanRun) -> None:
    """Read the song of the track on the music service, once; without it the scan goes on."""
    state = run.state
    if run.keyword is not None or state.track is None:
        return
    # The info of the track names the song, or else a video of its music id does.
    videos = state.videos_of(run.music_id)
    named = (video.music.service_track_id for video in videos if video.music)
    track_id = state.track.service_track_id or next(filter(None, named), None)
    if track_id is None or track_id in state.songs_asked:
        return
    state.songs_asked.add(track_id)
    before, stop = run.captures.requests_used, "completed"
    try:
        with run.stopwatch.waiting("upstream"):
            state.song = run.wait_for(run.captures.song(track_id))
    except (UpstreamError, ProviderUnsupportedError) as error:
        stop = error.stop_reason
    items = int(state.song is not None)
    add_reads(run, SONG_SURFACE, since=before, items=items, new=items, stop=stop)


def read_music_screen(run: ScanRun, music_id: str) -> int:
    """Read the video list of a music id; return how many videos are new to this scan.

    Rows that state another music id are sightings, too: they may carry the recording under that
    one, are never `exact_music_id`, and are what the genuine share of the list is measured by.
    """
    with run.stopwatch.waiting("upstream"):
        walk = run.wait_for(
            run.captures.walk_music(
                music_id, limit=run.parameters.candidate_limit, on_item=run.note_item
            )
        )
    run.items_read = 0  # from here its videos count as sightings
    rows = (*walk.videos, *walk.foreign)
    sightings = [to_sighting(run, video, "music_list", music_id) for video in rows]
    return add_sightings(run, sightings, walk.coverage)


def add_known_matches(run: ScanRun) -> int:
    """Add the videos whose sound a scan of another track fetched; return how many are new.

    Each matched a reference of this track. They are candidates: this scan judges them by its own
    references.
    """
    if not run.verifies_audio:
        return 0
    sightings = [
        candidate_pool.Sighting(
            aweme_id=row["candidate_aweme_id"],
            surface=candidate_pool.KNOWN_MATCHES,
            entity_id=row["candidate_music_id"],
            same_music=False,
            music_id=row["candidate_music_id"] or None,
        )
        for row in read_known_matches(run.runtime.engine, run.music_id)
    ]
    coverage = SourceCoverage(
        surface=candidate_pool.KNOWN_MATCHES,
        requests=0,
        pages=0,
        items=len(sightings),
        new_items=0,
        stop_reason="completed",
    )
    return add_sightings(run, sightings, coverage)


def begin_pool(run: ScanRun) -> tuple[candidate_pool.Sighting, ...]:
    """Add the first candidates, before the other sources have been read, and return them.

    The list of a popular music id alone could fill the pool.
    """
    limit = run.parameters.candidate_limit
    return fill_pool(
        run, limit=candidate_pool.reserved_places(limit) if run.verifies_audio else limit
    )


def fill_pool(run: ScanRun, *, limit: int | None = None) -> tuple[candidate_pool.Sighting, ...]:
    """Add the next candidates to the pool and return them.

    Posts without any relation to the song are added only if no other candidate is left, and only
    if audio is verified: otherwise they could never be confirmed.

    Args:
        run: The scan.
        limit: Size of the pool so far; by default `candidate_limit`.
    """
    state = run.state
    limit = run.parameters.candidate_limit if limit is None else limit
    chosen = candidate_pool.choose_candidates(
        state.sightings, title=run.song_title, limit=limit, pooled=state.pool
    )
    if not chosen and run.verifies_audio:
        chosen = candidate_pool.choose_others(state.sightings, limit=limit, pooled=state.pool)
    state.pool.update({entry.aweme_id: entry for entry in chosen})
    run.update_progress()
    return chosen


def read_details(run: ScanRun) -> list[Video]:
    """Read the missing detail pages of pooled videos; return the videos that were read.

    A page that was not read is reported as not reached, whatever the error.
    """
    state = run.state
    missing = [
        aweme_id
        for aweme_id in state.pool
        if aweme_id not in state.details and aweme_id not in state.outcomes
    ]
    before = run.captures.requests_used

    # Every page ends in one of three places: the details, the unavailable videos or an outcome.
    async def read(aweme_id: str) -> UpstreamError | None:
        error: UpstreamError | None = None
        try:
            detail = await read_detail(run, aweme_id)
        except UpstreamError as failure:
            error = failure
            state.outcomes[aweme_id] = (error.type, error.detail)
        else:
            if isinstance(detail, Unavailability):
                state.unavailable[aweme_id] = detail
                state.outcomes[aweme_id] = ("unavailable", detail.filter_reason or detail.reason)
            else:
                state.details[aweme_id] = detail
        run.update_progress()
        return error

    def skip(aweme_id: str, refusal: UpstreamError) -> None:
        state.outcomes[aweme_id] = ("not_reached", refusal.stop_reason)

    errors = run.wait_for(read_until_refused(run, missing, read, skip)) if missing else []
    done = state.read_candidates()
    state.not_reached += [
        f"video_detail:{aweme_id}" for aweme_id in missing if aweme_id not in done
    ]
    # The pages arrive in any order. In the order of the pool, equal scans have equal results.
    state.details = {name: state.details[name] for name in state.pool if name in state.details}

    # The stop reason is the refusal that ended the reading, else the most frequent error.
    counts = Counter(error.stop_reason for error in errors)
    refusal = refusal_among(errors)
    stop = max(sorted(counts), key=counts.__getitem__, default="completed")
    videos = [state.details[name] for name in missing if name in state.details]
    items = len(videos) + sum(name in state.unavailable for name in missing)
    add_reads(
        run,
        "video_detail",
        since=before,
        items=items,
        new=len(videos),
        stop=refusal.stop_reason if refusal else stop,
    )
    # Only now a video of the track may name its song.
    read_song(run)
    return videos


async def read_detail(run: ScanRun, aweme_id: str) -> Video | Unavailability:
    """Read the detail page of a video; a recent stored one is used, unless `refresh` is set."""
    age = 0 if run.parameters.refresh else DETAIL_MAX_AGE_S
    with run.stopwatch.waiting("upstream"):
        return await run.captures.video(aweme_id, max_age_s=age)


def read_author_screens(run: ScanRun, videos: list[Video], *, limit: int | None = None) -> int:
    """Read the first screens of the authors of `videos`; return how many videos are new.

    Re-uploads under other music ids are found there. Without `limit`, the size of the pool bounds
    the number of authors.
    """
    state = run.state
    most = limit or run.parameters.candidate_limit // CANDIDATES_PER_AUTHOR
    room = max(0, most - len(state.scanned_authors))
    authors = authors_to_scan(videos, scanned=state.scanned_authors)
    state.authors_left = authors[room:]
    return _read_screens(run, "user_posts", authors[:room], run.captures.walk_user_posts)


def read_hashtag_screens(run: ScanRun, videos: list[Video]) -> int:
    """Read the first screens of the hashtags of `videos`; return how many videos are new."""
    state = run.state
    most = run.parameters.candidate_limit // CANDIDATES_PER_HASHTAG
    room = max(0, most - len(state.scanned_hashtags))
    tags = hashtags_to_scan(videos, title=run.song_title, scanned=state.scanned_hashtags)
    state.hashtags_left = tags[room:]
    walk = partial(run.captures.walk_hashtag, limit=run.parameters.candidate_limit, pages=1)
    return _read_screens(run, "hashtag_list", tags[:room], walk)


def _read_screens(
    run: ScanRun,
    surface: str,
    names: Sequence[str],
    walk_of: Callable[[str], Awaitable[ListWalk]],
) -> int:
    """Read one screen each; after a refusal, report the rest as not reached."""
    state = run.state
    scanned = state.scanned_authors if surface == "user_posts" else state.scanned_hashtags
    walks: dict[str, ListWalk] = {}
    # A screen that an earlier round was refused is read again, so it is not "not reached" yet.
    retried = {f"{surface}:{name}" for name in names}
    state.not_reached = [name for name in state.not_reached if name not in retried]

    def skip(name: str, _refusal: UpstreamError) -> None:
        state.not_reached.append(f"{surface}:{name}")

    async def read(name: str) -> UpstreamError | None:
        with run.stopwatch.waiting("upstream"):
            walk = walks[name] = await walk_of(name)
        if isinstance(walk.error, RefusedLatelyError):
            skip(name, walk.error)
        return walk.error

    run.wait_for(read_until_refused(run, names, read, skip))
    new = 0
    # In the order of `names`, whichever screen was read first.
    for name in filter(walks.__contains__, names):
        scanned.add(name)
        sightings = [to_sighting(run, video, surface, name) for video in walks[name].videos]
        new += add_sightings(run, sightings, walks[name].coverage)
    return new


def read_profiles(run: ScanRun) -> int:
    """Read the profiles of the first accounts of the result; return how many profiles there are.

    An account that the platform does not show stays without a profile. An upstream refusal ends
    the reading and becomes the stop reason; the remaining accounts are reported as not reached.
    """
    state, captures = run.state, run.captures
    accounts = wanted_profiles(run)
    oldest = run.clock() - PROFILE_MAX_AGE

    def recent_profiles() -> dict[str, Account]:
        if run.parameters.refresh:
            return {}
        latest = read_latest_accounts(run.runtime.engine, accounts)
        return {uid: account for uid, account in latest.items() if account.observed_at >= oldest}

    def skip(sec_uid: str, _refusal: UpstreamError) -> None:
        state.not_reached.append(f"user_info:{sec_uid}")

    async def read(sec_uid: str) -> UpstreamError | None:
        error: UpstreamError | None = None
        try:
            with run.stopwatch.waiting("upstream"):
                state.profiles[sec_uid] = await captures.account(sec_uid)
        except UnresolvedIdError:
            pass  # the account no longer exists: there is nothing to read
        except UpstreamError as failure:
            error = failure
            skip(sec_uid, error)
        run.update_progress()
        return error

    # The journal keeps what was stored when the job first asked: a later run of the job must not
    # take the profiles that the first one has read for earlier ones.
    state.profiles = run.journal.once("known_accounts", _ACCOUNTS, recent_profiles)
    before, recalled = captures.requests_used, len(state.profiles)
    unread = [sec_uid for sec_uid in accounts if sec_uid not in state.profiles]
    errors = run.wait_for(read_until_refused(run, unread, read, skip))

    # The stop reason is the refusal that ended the reading, else the last error.
    error = refusal_among(errors) or next(reversed(errors), None)
    is_whole = len(accounts) == len(confirmed_accounts(run))
    stop = "completed" if is_whole else "account_profile_limit"
    if error is not None:
        stop = error.stop_reason
    state.profiles_end = stop
    new = len(state.profiles) - recalled
    add_reads(run, "user_info", since=before, items=new, new=new, stop=stop)
    run.update_progress()
    return len(state.profiles)


def confirmed_accounts(run: ScanRun) -> tuple[str, ...]:
    """Return the accounts behind the confirmed videos, those with most linked likes first."""
    return accounts_by_likes(video for video, _ in run.state.confirmed_videos())


def wanted_profiles(run: ScanRun) -> tuple[str, ...]:
    """Return the accounts whose profiles the scan reads."""
    return confirmed_accounts(run)[: run.parameters.account_profile_limit]


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
    run: ScanRun,
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

    async def work_in_turn(item: Item) -> T:
        async with gate:
            run.check_cancelled()
            return await work(item)

    return await run_all(map(work_in_turn, items))


async def read_until_refused(
    run: ScanRun,
    names: Iterable[str],
    read: Callable[[str], Awaitable[UpstreamError | None]],
    skip: Callable[[str, UpstreamError], object],
) -> list[UpstreamError]:
    """Read several things of one source, concurrently, until a refusal ends it.

    Args:
        run: The scan.
        names: What to read, for example video ids.
        read: Reads one of them; returns the error that stopped it, or None.
        skip: Called instead after a refusal, with the refusal.

    Returns:
        The errors in the order they occurred; `refusal_among` returns the one that ended the
        reading.
    """
    errors: list[UpstreamError] = []

    async def read_or_skip(name: str) -> None:
        refusal = refusal_among(errors)
        if refusal is not None:
            skip(name, refusal)
            return
        error = await read(name)
        if error is not None:
            errors.append(error)

    await run_each(run, names, read_or_skip, at_once=READS_IN_FLIGHT)
    return errors


def refusal_among(errors: Iterable[UpstreamError]) -> UpstreamError | None:
    """Return the first error after which nothing more of the source is read, or None."""
    return next((error for error in errors if isinstance(error, SOURCE_ENDING_ERRORS)), None)


def to_sighting(
    run: ScanRun, video: Video, surface: str, entity_id: str
) -> candidate_pool.Sighting:
    """Convert a listed video to a sighting; `same_music` is set if its music id is verified.

    A row of a music list that names another music id is not `same_music`, whatever list it is in.
    """
    music_id = video.music.music_id if video.music else None
    verified = {run.music_id, *run.state.verified}
    return candidate_pool.Sighting(
        aweme_id=video.aweme_id,
        surface=surface,
        entity_id=entity_id,
        same_music=candidate_pool.is_row_of(
            music_id, surface=surface, entity_id=entity_id, music_ids=verified
        ),
        music_id=music_id,
        desc=video.desc,
        hashtag_names=tuple(tag.name for tag in video.hashtags or ()),
        digg_count=video.statistics.digg_count,
    )


def add_sightings(
    run: ScanRun, sightings: list[candidate_pool.Sighting], coverage: SourceCoverage
) -> int:
    """Add the sightings of a list and its coverage; return how many videos are new."""
    state = run.state
    new = {sighting.aweme_id for sighting in sightings} - state.seen_ids
    state.seen_ids |= new
    state.sightings.extend(sightings)
    add_coverage(run, replace(coverage, new_items=len(new)))
    run.update_progress()
    return len(new)


def add_reads(
    run: ScanRun, surface: str, *, since: int | None = None, items: int, new: int, stop: str
) -> None:
    """Add things that were read one by one, a page each, to the coverage report.

    `since`: the requests that the scan had used before; without it, none were needed.
    """
    add_coverage(
        run,
        SourceCoverage(
            surface=surface,
            requests=0 if since is None else run.captures.requests_used - since,
            pages=items,
            items=items,
            new_items=new,
            stop_reason=stop,
        ),
    )


def add_coverage(run: ScanRun, entry: SourceCoverage) -> None:
    """Add an entry to the coverage report, unless there was nothing to read.

    A source that was refused without a request (a closed circuit, a host outside the profile, a
    surface that is off) has an entry, too: its stop reason is what a reader must know.
    """
    if entry.requests or entry.items or entry.stop_reason.startswith((REFUSED, SURFACE_OFF)):
        run.state.coverage_report.append(entry)
