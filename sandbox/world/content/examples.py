"""Ids that every world has, whatever its seed, size and calendar: examples of the pages use them.

An id holds the time of its birth, so what has a fixed id was born at a fixed time. What belongs
here: these ids, and how a world makes place for them. Accounts and hashtags need no fixed ids:
those of a seed are the same on every day.
"""

from dataclasses import replace

import numpy as np

from sandbox.world.content.tables import VideoState, VideoTable
from sandbox.world.random_streams import Ints

TRACK_IDS: Ints = np.asarray([7348759830572834348, 7342451722773117559], dtype=np.int64)
"""Music ids of the first tracks, born in March 2024."""
VIDEO_IDS: Ints = np.asarray(
    [7357327081542359155, 7447212238755901880, 7495841464336754102], dtype=np.int64
)
_STATES = (VideoState.PUBLIC, VideoState.DELETED, VideoState.PUBLIC)
"""Videos of April 2024, December 2024 and April 2025, and their states."""
BORN: Ints = TRACK_IDS >> 32
FIRST_POST_S = 60
"""Seconds from the birth of a music id to the first video under it."""


def since_release(posted: Ints, *, born: int, now: int) -> Ints:
    """Return times of posts, in proportion from the birth of their music id until now."""
    oldest = int(posted.min(initial=now - 1))
    return now - (now - posted) * (now - born - FIRST_POST_S) // (now - oldest)


def with_example_videos(works: VideoTable) -> VideoTable:
    """Give the fixed ids and states to the videos that were posted next after their times.

    Args:
        works: All videos, oldest first, as they stay.
    """
    place = np.arange(VIDEO_IDS.size)
    rows = np.searchsorted(works.create_time, VIDEO_IDS >> 32)
    rows = np.maximum.accumulate(rows - place) + place  # all may be older than the whole world
    rows = np.minimum(rows, len(works) - VIDEO_IDS.size + place)
    columns = {
        name: getattr(works, name).copy()
        for name in ("aweme_id", "create_time", "state", "is_listed")
    }
    columns["aweme_id"][rows] = VIDEO_IDS
    columns["create_time"][rows] = VIDEO_IDS >> 32
    columns["state"][rows] = _STATES
    columns["is_listed"][rows] = True
    return replace(works, **columns)
