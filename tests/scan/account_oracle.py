"""The account summary as its specification says it: what the SQL model must equal."""

from collections.abc import Iterable, Mapping, Sequence

from pipelines.documents.result_types import (
    AccountEntry,
    AccountSummary,
    AuthorDocument,
    LinkedVideo,
    VideoPreview,
)
from pipelines.scan.rules.results import rank_documents
from warehouse.records.videos import Account

VIDEO_PREVIEW_LIMIT = 20


def to_account_summary(
    confirmed: Iterable[LinkedVideo], *, profiles: Mapping[str, Account] | None = None
) -> AccountSummary:
    """Build `account_summary` of a result, ordered by linked likes.

    Args:
        confirmed: Video documents of all confirmed videos.
        profiles: The profiles that were read, by `sec_uid`.
    """
    profiles = profiles or {}
    videos: dict[str, list[LinkedVideo]] = {}
    authors: dict[str, AuthorDocument] = {}
    for document in confirmed:
        author = document["author"]
        if author is not None:
            authors.setdefault(author["sec_uid"], author)
            videos.setdefault(author["sec_uid"], []).append(document)
    accounts = [_account(author, videos[uid], profiles.get(uid)) for uid, author in authors.items()]
    accounts.sort(
        key=lambda entry: (
            entry["linked_digg_count"] is None,
            -(entry["linked_digg_count"] or 0),
            entry["sec_uid"],
        )
    )
    return {
        "accounts": accounts,
        "video_preview_limit": VIDEO_PREVIEW_LIMIT,
        "account_count": len(accounts),
        "account_count_complete": False,
    }


def _account(
    author: AuthorDocument, videos: Sequence[LinkedVideo], profile: Account | None
) -> AccountEntry:
    by_likes = rank_documents(videos, sort_by="digg")
    counts = [video["statistics"] for video in videos]
    return {
        "sec_uid": author["sec_uid"],
        "nickname": (profile.nickname if profile else None) or author["nickname"],
        "unique_id": (profile.unique_id if profile else None) or author["unique_id"],
        "follower_count": profile.follower_count if profile else None,
        "follower_count_source": profile.follower_count_source if profile else None,
        "total_favorited": profile.total_favorited if profile else None,
        "aweme_count": profile.aweme_count if profile else None,
        "profile_complete": profile is not None,
        "linked_video_count": len(videos),
        "linked_digg_count": _known_sum(count["digg_count"] for count in counts),
        "linked_comment_count": _known_sum(count["comment_count"] for count in counts),
        "linked_collect_count": _known_sum(count["collect_count"] for count in counts),
        "linked_share_count": _known_sum(count["share_count"] for count in counts),
        "linked_statistics_complete": all(video["statistics_complete"] for video in videos),
        "top_video": _preview(by_likes[0]),
        "video_previews": [_preview(video) for video in by_likes[:VIDEO_PREVIEW_LIMIT]],
    }


def _known_sum(counts: Iterable[int | None]) -> int | None:
    """Sum the known counts; `linked_statistics_complete` states whether all are known."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _preview(video: LinkedVideo) -> VideoPreview:
    return {
        "aweme_id": video["aweme_id"],
        "desc": video["desc"],
        "create_time": video["create_time"],
        "share_url": video["share_url"],
        "link_type": video["link_type"],
        "statistics": video["statistics"],
    }
