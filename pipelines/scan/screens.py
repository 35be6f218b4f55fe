"""Read the first screens of the authors and hashtags of confirmed videos.

Re-uploads under other music ids are found here. Not here: which ones to read
(`rules/expansion.py`).
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from pipelines.captures.list_walk import ListWalk
from pipelines.scan.collect import add_sightings, read_until_refused, to_sighting
from pipelines.scan.rules.expansion import authors_to_scan, hashtags_to_scan
from pipelines.scan.scan_run import ScanRun
from warehouse.records.errors import RefusedLatelyError, UpstreamError
from warehouse.records.videos import Video

CANDIDATES_PER_AUTHOR = 3  # one author screen is read per so many places in the pool
CANDIDATES_PER_HASHTAG = 15  # a hashtag's first screen mixes many songs, so fewer are read


def read_author_screens(session: ScanRun, videos: list[Video], *, limit: int | None = None) -> int:
    """Read the first screens of the authors of `videos`; return how many videos are new.

    Without `limit`, the size of the pool bounds the number of authors.
    """
    found = session.state
    most = limit or session.parameters.candidate_limit // CANDIDATES_PER_AUTHOR
    room = most - len(found.scanned_authors)
    authors = authors_to_scan(videos, scanned=found.scanned_authors)
    found.authors_left = authors[max(0, room) :]
    return session.run(
        _read(session, "user_posts", authors[: max(0, room)], session.captures.walk_user_posts)
    )


def read_hashtag_screens(session: ScanRun, videos: list[Video]) -> int:
    """Read the first screens of the hashtags of `videos`; return how many videos are new."""
    found = session.state
    room = session.parameters.candidate_limit // CANDIDATES_PER_HASHTAG
    tags = hashtags_to_scan(videos, title=session.song_title, scanned=found.scanned_hashtags)
    room = max(0, room - len(found.scanned_hashtags))
    chosen, found.hashtags_left = tags[:room], tags[room:]
    walk = partial(session.captures.walk_hashtag, limit=session.parameters.candidate_limit, pages=1)
    return session.run(_read(session, "hashtag_list", chosen, walk))


async def _read(
    session: ScanRun,
    surface: str,
    names: Sequence[str],
    walk_of: Callable[[str], Awaitable[ListWalk]],
) -> int:
    """Read one screen each; after a refusal, report the rest as not reached."""
    found = session.state
    scanned = found.scanned_authors if surface == "user_posts" else found.scanned_hashtags
    walks: dict[str, ListWalk] = {}
    again = {f"{surface}:{name}" for name in names}  # a screen that was refused is asked for anew
    found.not_reached = [name for name in found.not_reached if name not in again]

    def skip(name: str, _ending: UpstreamError) -> None:
        found.not_reached.append(f"{surface}:{name}")

    async def read(name: str) -> UpstreamError | None:
        with session.stopwatch.waiting("upstream"):
            walk = walks[name] = await walk_of(name)
        if isinstance(walk.error, RefusedLatelyError):
            skip(name, walk.error)
        return walk.error

    await read_until_refused(session, names, read, skip)
    new = 0
    for name in filter(walks.__contains__, names):  # in one order, whichever was read first
        scanned.add(name)
        seen = [to_sighting(session, video, surface, name) for video in walks[name].videos]
        new += add_sightings(session, seen, walks[name].coverage)
    return new
