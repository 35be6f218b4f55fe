"""The order of the accounts behind videos, in which their profiles are read.

Not here: the account summary (`warehouse/models/scan/account_summaries.sql`).
"""

from collections.abc import Iterable

from warehouse.records.videos import Video


def accounts_by_likes(videos: Iterable[Video]) -> tuple[str, ...]:
    """Return the accounts of videos in the order of the summary: most linked likes first."""
    likes: dict[str, int] = {}
    for video in videos:
        if video.author is not None:
            gained = video.statistics.digg_count or 0
            likes[video.author.sec_uid] = likes.get(video.author.sec_uid, 0) + gained
    return tuple(sorted(likes, key=lambda sec_uid: (-likes[sec_uid], sec_uid)))
