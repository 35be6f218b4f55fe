"""First screens of somebody or something that a work of the track names: authors and hashtags.

Where re-uploads under other music ids are met. Which ones to read is `domain/expansion.py`'s.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from pipelines.captures.list_walk import Walk
from pipelines.scan.collect import (
    ENDS_THE_SOURCE,
    READS_IN_FLIGHT,
    each,
    note_sighted,
    to_sighting,
)
from pipelines.scan.rules.expansion import authors_to_scan, hashtags_to_scan
from pipelines.scan.scan_run import ScanSession
from warehouse.records.videos import Video

CANDIDATES_PER_AUTHOR = 3  # one author screen is asked for every so many places in the pool
CANDIDATES_PER_HASHTAG = 15  # its first screen shows works of many songs, so fewer are asked


def read_author_screens(
    session: ScanSession, works: list[Video], *, limit: int | None = None
) -> int:
    """Read the first screens of the authors of `works`; returns how many videos were new.

    `limit` None: as many as the pool has room for.
    """
    found = session.findings
    most = limit or session.parameters.candidate_limit // CANDIDATES_PER_AUTHOR
    room = most - len(found.scanned_authors)
    authors = authors_to_scan(works, scanned=found.scanned_authors)
    found.authors_left = authors[max(0, room) :]
    return session.run(
        _read(session, "user_posts", authors[: max(0, room)], session.captures.walk_author)
    )


def read_hashtag_screens(session: ScanSession, works: list[Video]) -> int:
    """Read the first screens of the hashtags of `works`; returns how many videos were new."""
    found = session.findings
    room = session.parameters.candidate_limit // CANDIDATES_PER_HASHTAG
    tags = hashtags_to_scan(works, title=session.song_title, scanned=found.scanned_hashtags)
    chosen = tags[: max(0, room - len(found.scanned_hashtags))]
    walk = partial(session.captures.walk_hashtag, limit=session.parameters.candidate_limit, pages=1)
    return session.run(_read(session, "hashtag_list", chosen, walk))


async def _read(
    session: ScanSession,
    surface: str,
    names: Sequence[str],
    walk_of: Callable[[str], Awaitable[Walk]],
) -> int:
    """Read one screen each; after a refusal the rest is named as not reached."""
    found = session.findings
    scanned = found.scanned_authors if surface == "user_posts" else found.scanned_hashtags
    gate = asyncio.Semaphore(READS_IN_FLIGHT)
    new = 0
    ended = False

    async def one(name: str) -> None:
        nonlocal new, ended
        async with gate:
            session.check_cancelled()
            if ended:
                found.not_reached.append(f"{surface}:{name}")
                return
            with session.stopwatch.waiting("upstream"):
                walk = await walk_of(name)
            scanned.add(name)
            seen = [to_sighting(session, video, surface, name) for video in walk.videos]
            new += note_sighted(session, seen, walk.coverage)
            if isinstance(walk.error, ENDS_THE_SOURCE):
                ended = True

    await each(one(name) for name in names)
    return new
