"""Summarize the accounts behind the confirmed videos: their profiles, video and like counts.

Aggregates cover all confirmed videos, not only the returned ones. Profile fields that were not
read are null, never 0.
"""

from collections.abc import Iterable, Mapping, Sequence

from pipelines.scan.rules.ranking import rank_documents
from warehouse.records.values import Document
from warehouse.records.videos import Account, Video

VIDEO_PREVIEW_LIMIT = 20
_PREVIEW_FIELDS = ("aweme_id", "desc", "create_time", "share_url", "link_type", "statistics")
_LINKED = {
    "linked_digg_count": "digg_count",
    "linked_comment_count": "comment_count",
    "linked_collect_count": "collect_count",
    "linked_share_count": "share_count",
}


def to_account_summary(
    confirmed: Iterable[Document], *, profiles: Mapping[str, Account] | None = None
) -> Document:
    """Build `account_summary` of a result, ordered by linked likes.

    Args:
        confirmed: Video documents of all confirmed videos.
        profiles: The profiles that were read, by `sec_uid`.
    """
    profiles = profiles or {}
    videos: dict[str, list[Document]] = {}
    for document in confirmed:
        if document["author"] is not None:
            videos.setdefault(document["author"]["sec_uid"], []).append(document)
    accounts = [_account(videos[uid], profiles.get(uid)) for uid in videos]
    accounts.sort(key=lambda entry: (-(entry["linked_digg_count"] or 0), entry["sec_uid"]))
    return {
        "accounts": accounts,
        "video_preview_limit": VIDEO_PREVIEW_LIMIT,
        "account_count": len(accounts),
        "account_count_complete": False,
    }


def accounts_by_likes(videos: Iterable[Video]) -> tuple[str, ...]:
    """Return the accounts of videos in the order of the summary: most linked likes first."""
    likes: dict[str, int] = {}
    for video in videos:
        if video.author is not None:
            gained = video.statistics.digg_count or 0
            likes[video.author.sec_uid] = likes.get(video.author.sec_uid, 0) + gained
    return tuple(sorted(likes, key=lambda sec_uid: (-likes[sec_uid], sec_uid)))


def _account(videos: Sequence[Document], profile: Account | None) -> Document:
    by_likes = rank_documents(videos, sort_by="digg")
    author = videos[0]["author"]
    return {
        "sec_uid": author["sec_uid"],
        "nickname": (profile.nickname if profile else None) or author["nickname"],
        "unique_id": (profile.unique_id if profile else None) or author["unique_id"],
        "follower_count": profile.follower_count if profile else None,
        "total_favorited": profile.total_favorited if profile else None,
        "aweme_count": profile.aweme_count if profile else None,
        "profile_complete": profile is not None,
        "linked_video_count": len(videos),
        **{name: _known_sum(videos, count) for name, count in _LINKED.items()},
        "linked_statistics_complete": all(video["statistics_complete"] for video in videos),
        "top_video": _preview(by_likes[0]),
        "video_previews": [_preview(video) for video in by_likes[:VIDEO_PREVIEW_LIMIT]],
    }


def _known_sum(videos: Sequence[Document], count: str) -> int | None:
    """Sum the known counts; `linked_statistics_complete` states whether all are known."""
    known = [
        video["statistics"][count] for video in videos if video["statistics"][count] is not None
    ]
    return sum(known) if known else None


def _preview(video: Document) -> Document:
    return {name: video[name] for name in _PREVIEW_FIELDS}
