"""Rank confirmed videos: the sort orders, on video documents.

Not here: the hot score (`warehouse/records/videos.py`), which videos are confirmed, how many are
returned (`results.py`).
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import cast

from pipelines.documents.video_types import VideoDocument
from pipelines.parameters.scan import SortBy
from warehouse.records.videos import hot_score


def is_viral(document: VideoDocument, *, viral_threshold: int) -> bool:
    """Whether the likes reach the threshold; False if they are unknown."""
    likes = document["statistics"]["digg_count"]
    return likes is not None and likes >= viral_threshold


def rank_documents[Video: VideoDocument](
    documents: Iterable[Video], *, sort_by: SortBy
) -> list[Video]:
    """Sort video documents; ties are broken by `aweme_id`, unknown values come last."""
    value = SORT_VALUES[sort_by]

    def key(document: Video) -> tuple[bool, float, int, str]:
        number, aweme_id = value(document), document["aweme_id"]
        # Ids are numbers written as text: the shorter one is the smaller one.
        return (number is None, -(number or 0), len(aweme_id), aweme_id)

    return sorted(documents, key=key)


def _published(document: VideoDocument) -> int | None:
    """Return the stated time of publication, else the time in the id."""
    stated = document["create_time"]
    time_of_id = document.get("created_at")  # absent in results of earlier releases
    if stated is None and time_of_id is not None:
        return int(datetime.fromisoformat(time_of_id).timestamp())
    return stated


def _score(document: VideoDocument) -> int | None:
    # Not through `Statistics`: building a record for each document would double the sort time.
    return hot_score(cast("Mapping[str, int | None]", document["statistics"]))


def _age(document: VideoDocument) -> int | None:
    published = _published(document)
    return None if published is None else -published


SORT_VALUES: Mapping[SortBy, Callable[[VideoDocument], float | None]] = {
    "hot_score": _score,
    "digg": lambda video: video["statistics"]["digg_count"],
    "comment": lambda video: video["statistics"]["comment_count"],
    "collect": lambda video: video["statistics"]["collect_count"],
    "share": lambda video: video["statistics"]["share_count"],
    "latest": _published,
    "oldest": _age,
}
"""What a sort order ranks by, a whole number or a fraction, the greatest first.

None if it is unknown, such as a ratio whose denominator is 0.
"""
