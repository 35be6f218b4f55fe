"""The view of a scan's result for a request, and whether a stored result satisfies a request.

The result holds every confirmed video, unranked. `count`, `sort_by` and `viral_*` are applied
by `view_result` on each read, so they never force another scan.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import cast

from pipelines.documents import result_types
from pipelines.documents.result_types import VideoDocument
from pipelines.documents.videos import to_statistics
from pipelines.parameters.scan import DEPTH_PARAMETERS, ScanParameters, SortBy
from warehouse.records.videos import hot_score

# Rank confirmed videos: the sort orders, on video documents.


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


SOURCE_OF_DEPTH: dict[str, result_types.Source] = {
    "candidate_limit": "music",
    "search_candidate_limit": "search",
    "search_batch_target": "search",
    "search_page_limit": "search",
    "search_request_budget": "search",
    "account_profile_limit": "accounts",
}


def view_result(
    document: result_types.StoredResult, parameters: ScanParameters
) -> result_types.HotVideos:
    """Return the view of a result for one request: the top N confirmed videos in its sort order.

    Args:
        document: The result; it is not modified.
        parameters: Only `count`, `sort_by`, `viral_threshold` and `viral_only` are used.
    """
    top = rank_selected(document["ranked"], parameters)
    # Variants are ranked like the main list; their count stays the count of all.
    variants = _selected(document["variants"]["aweme_list"], parameters)[: parameters.count]
    # Search results that stand in the main list as well are marked.
    related, top_ids = document["search_related"], {video["aweme_id"] for video in top}
    related_videos: list[result_types.RelatedVideo] = [
        {**video, "duplicate_with_returned_ranking": video["aweme_id"] in top_ids}
        for video in related["aweme_list"]
    ]
    overlap = sum(video["duplicate_with_returned_ranking"] for video in related_videos)
    return {
        "music_id": document["music_id"],
        "keyword": document.get("keyword"),
        "music": document["music"],
        "aweme_list": top,
        "candidate_pool_size": document["candidate_pool_size"],
        "confirmed_count": document["confirmed_count"],
        "returned_count": len(top),
        "requested_count": parameters.count,
        "count_satisfied": len(top) >= parameters.count,
        "count_note_zh": _count_note_zh(document, parameters, returned=len(top)),
        "search_related": {
            **related,
            "aweme_list": related_videos,
            "visible_ranking_overlap_count": overlap,
        },
        "variants": {
            "count": document["variants"]["count"],
            "aweme_list": cast("list[result_types.VariantVideo]", _ranked(variants, parameters)),
            "by_kind": document["variants"]["by_kind"],
            "hotter": _hotter_variants(document),
        },
        "versions": _versions(document, parameters),
        "totals": _totals(document["ranked"], includes_variants=False),
        "audio_check_counts": dict(
            Counter(
                video["audio_check"]["kind"]
                for video in document["ranked"]
                if "audio_check" in video
            )
        ),
        "unique_account_count": document["unique_account_count"],
        "account_count_complete": document["account_count_complete"],
        "account_summary": document["account_summary"],
        "discovery": document["discovery"],
        "coverage": document["coverage"],
        "coverage_complete": document["coverage_complete"],
        "algorithm": document["algorithm"],
        "is_demo_data": document["is_demo_data"],
        "data_provider": document["data_provider"],
        "created_at": document["created_at"],
        # Results of the first releases have no such entry.
        "mobile_emulator_used": bool(document.get("mobile_emulator_used")),
    }


def view_with_variants(
    document: result_types.StoredResult, parameters: ScanParameters
) -> result_types.HotVideosWithVariants:
    """Return the view of a result with its variants ranked among the confirmed videos.

    A variant is not confirmed: what counts confirmed videos stays as in `view_result`.
    """
    videos: list[VideoDocument] = [*document["ranked"], *document["variants"]["aweme_list"]]
    top = _ranked(_selected(videos, parameters)[: parameters.count], parameters)
    return {
        **view_result(document, parameters),
        "aweme_list": cast("list[result_types.RankedVideo | result_types.VariantVideo]", top),
        "returned_count": len(top),
        "count_satisfied": len(top) >= parameters.count,
        "count_note_zh": _count_note_zh(document, parameters, returned=len(top)),
        "totals": _totals(videos, includes_variants=True),
    }


def rank_selected(
    documents: list[result_types.LinkedVideo], parameters: ScanParameters
) -> list[result_types.RankedVideo]:
    """Return the top `count` videos that a request selects, with rank and hot score."""
    top = _selected(documents, parameters)[: parameters.count]
    return cast("list[result_types.RankedVideo]", _ranked(top, parameters))


def satisfies_request(
    document: result_types.StoredResult,
    parameters: ScanParameters,
    *,
    finished_at: datetime,
    now: datetime,
    ttl_s: int,
) -> bool:
    """Return whether a stored result of the request's scan key satisfies it (decisions, 3).

    It must be fresh, at least as deep as requested or exhausted, and hold at least `count` videos
    after `viral_only` unless its source is exhausted.
    """
    if parameters.refresh or now - finished_at >= timedelta(seconds=ttl_s):
        return False
    # A source that was read to its end is deep enough for any request.
    is_exhausted, stored = document["sources_ended_by_exhaustion"], document["parameters"]
    if not all(
        is_exhausted.get(SOURCE_OF_DEPTH[name], True) or stored[name] >= getattr(parameters, name)
        for name in DEPTH_PARAMETERS
    ):
        return False
    # A search by name ranks nothing, so `count` does not apply.
    if document.get("keyword") is not None:
        return True
    has_enough = len(_selected(document["ranked"], parameters)) >= parameters.count
    return has_enough or bool(is_exhausted.get("music"))


def _selected[Video: result_types.VideoDocument](
    documents: list[Video], parameters: ScanParameters
) -> list[Video]:
    """Return all videos that the request selects, sorted but not yet limited."""
    threshold = parameters.viral_threshold
    selected = [
        document
        for document in documents
        if not parameters.viral_only or is_viral(document, viral_threshold=threshold)
    ]
    return rank_documents(selected, sort_by=parameters.sort_by)


def _ranked(
    documents: Sequence[result_types.VideoDocument], parameters: ScanParameters
) -> list[object]:
    """Return documents with their rank, hot score and whether they are viral."""
    threshold = parameters.viral_threshold
    return [
        {
            "rank": rank,
            **document,
            "hot_score": to_statistics(document).hot_score,
            "is_viral": is_viral(document, viral_threshold=threshold),
        }
        for rank, document in enumerate(documents, start=1)
    ]


def _totals(
    videos: Sequence[VideoDocument], *, includes_variants: bool
) -> result_types.RankingTotals:
    likes = [
        number for video in videos if (number := video["statistics"]["digg_count"]) is not None
    ]
    return {
        "video_count": len(videos),
        "account_count": len({video["author"]["sec_uid"] for video in videos if video["author"]}),
        "digg_count": sum(likes) if likes else None,
        "unknown_digg_count": len(videos) - len(likes),
        "max_digg_count": max(likes, default=None),
        "includes_variants": includes_variants,
    }


def _versions(
    document: result_types.StoredResult, parameters: ScanParameters
) -> result_types.Versions | None:
    """Return the surest versions, neither ranked nor filtered; None if none were looked for."""
    versions = document.get("versions")
    if versions is None:
        return None
    return {**versions, "aweme_list": versions["aweme_list"][: parameters.count]}


HOT_SCORES_SHOWN = 3


def _hotter_variants(document: result_types.StoredResult) -> result_types.HotterVariants:
    """Return which variants have a higher hot score than every confirmed video."""
    confirmed = [score for video in document["ranked"] if (score := _score(video)) is not None]
    first_place = max(confirmed, default=None)
    scored = [
        (score, video)
        for video in document["variants"]["aweme_list"]
        if (score := _score(video)) is not None and first_place is not None and score > first_place
    ]
    return {
        "count": len(scored),
        "by_form": dict(Counter(_form(video) for _, video in scored)),
        "hot_scores": sorted((score for score, _ in scored), reverse=True)[:HOT_SCORES_SHOWN],
    }


def _form(video: result_types.ShiftedVideo) -> result_types.VariantForm:
    kind = video["variant_kind"]
    if kind in {"pitch", "excerpt"}:
        return cast("result_types.VariantForm", kind)
    return "sped_up" if video["speed"] > 1 else "slowed_down"


def _count_note_zh(
    document: result_types.StoredResult, parameters: ScanParameters, *, returned: int
) -> str:
    """Return the Chinese sentence on how many of the requested videos are returned, and why."""
    if returned >= parameters.count:
        return f"已返回请求的 {parameters.count} 条作品"
    if document.get("keyword") is not None:
        return "关键词模式只返回综合搜索相关作品，不做音频核验，不计入同款排名"
    counts = f"请求 {parameters.count} 条，实际返回 {returned} 条，不重复也不生成数据"
    if parameters.viral_only and document["confirmed_count"] > returned:
        return f"点赞数达到 {parameters.viral_threshold} 的已确认作品不足：{counts}"
    if document["sources_ended_by_exhaustion"].get("music"):
        return f"公开作品不足，公开列表已读完：{counts}"
    return f"本次扫描范围内的已确认作品不足：{counts}；可增大 candidate_limit 后重试"
