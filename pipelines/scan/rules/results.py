"""The view of a scan's result for a request, and whether a stored result satisfies a request.

The result holds every confirmed video, unranked. `count`, `sort_by` and `viral_*` are applied
by `view_result` on each read, so they never force another scan.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import cast

from pipelines.documents.result_types import (
    HotVideos,
    RelatedVideo,
    SearchRelated,
    Source,
    StoredResult,
    StoredSearch,
    StoredVariants,
    Variants,
)
from pipelines.documents.video_types import (
    LinkedVideo,
    RankedVideo,
    VariantVideo,
    VideoDocument,
)
from pipelines.documents.videos import to_statistics
from pipelines.parameters.scan import DEPTH_PARAMETERS, ScanParameters
from pipelines.scan.rules.ranking import hot_score, is_viral, rank_documents

SOURCE_OF_DEPTH: dict[str, Source] = {
    "candidate_limit": "music",
    "search_candidate_limit": "search",
    "search_batch_target": "search",
    "search_page_limit": "search",
    "search_request_budget": "search",
    "account_profile_limit": "accounts",
}


def view_result(document: StoredResult, parameters: ScanParameters) -> HotVideos:
    """Return the view of a result for one request: the top N confirmed videos in its sort order.

    Args:
        document: The result; it is not modified.
        parameters: Only `count`, `sort_by`, `viral_threshold` and `viral_only` are used.
    """
    top = rank_selected(document["ranked"], parameters)
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
        "search_related": _view_search(document["search_related"], top),
        "variants": _view_variants(document["variants"], parameters),
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
        "mobile_emulator_used": bool(document.get("mobile_emulator_used")),  # younger than some
    }


def rank_selected(documents: list[LinkedVideo], parameters: ScanParameters) -> list[RankedVideo]:
    """Return the top `count` videos that a request selects, with rank and hot score."""
    top = _selected(documents, parameters)[: parameters.count]
    return cast("list[RankedVideo]", _ranked(top, parameters))


def satisfies_request(
    document: StoredResult,
    wanted: ScanParameters,
    *,
    finished_at: datetime,
    now: datetime,
    ttl_s: int,
) -> bool:
    """Whether a stored result with the request's scan key satisfies the request (decisions, 3).

    It must be fresh, at least as deep as requested or exhausted, and hold at least `count` videos
    after `viral_only` unless its source is exhausted.
    """
    if wanted.refresh or now - finished_at >= timedelta(seconds=ttl_s):
        return False
    if not _is_deep_enough(document, wanted):
        return False
    if document.get("keyword") is not None:
        return True  # it ranks nothing, so `count` does not apply
    enough = len(_selected(document["ranked"], wanted)) >= wanted.count
    return enough or bool(document["sources_ended_by_exhaustion"].get("music"))


def _is_deep_enough(document: StoredResult, wanted: ScanParameters) -> bool:
    ended = document["sources_ended_by_exhaustion"]
    had = document["parameters"]
    return all(
        ended.get(SOURCE_OF_DEPTH[name], True) or had[name] >= getattr(wanted, name)
        for name in DEPTH_PARAMETERS
    )


def _selected[Video: VideoDocument](
    documents: list[Video], parameters: ScanParameters
) -> list[Video]:
    """Return all videos that the request selects, sorted but not yet limited."""
    threshold = parameters.viral_threshold
    kept = [
        document
        for document in documents
        if not parameters.viral_only or is_viral(document, viral_threshold=threshold)
    ]
    return rank_documents(kept, sort_by=parameters.sort_by)


def _ranked(documents: Sequence[VideoDocument], parameters: ScanParameters) -> list[object]:
    """Return documents with their rank, hot score and whether they are viral."""
    threshold = parameters.viral_threshold
    return [
        {
            "rank": rank,
            **document,
            "hot_score": hot_score(to_statistics(document)),
            "is_viral": is_viral(document, viral_threshold=threshold),
        }
        for rank, document in enumerate(documents, start=1)
    ]


def _view_variants(variants: StoredVariants, parameters: ScanParameters) -> Variants:
    """Rank variants like the main list; their `count` remains the number found."""
    wanted = _selected(variants["aweme_list"], parameters)[: parameters.count]
    return {
        "count": variants["count"],
        "aweme_list": cast("list[VariantVideo]", _ranked(wanted, parameters)),
        "by_kind": variants["by_kind"],
    }


def _view_search(related: StoredSearch, top: list[RankedVideo]) -> SearchRelated:
    visible = {document["aweme_id"] for document in top}
    videos: list[RelatedVideo] = [
        {**video, "duplicate_with_returned_ranking": video["aweme_id"] in visible}
        for video in related["aweme_list"]
    ]
    overlap = sum(video["duplicate_with_returned_ranking"] for video in videos)
    return {**related, "aweme_list": videos, "visible_ranking_overlap_count": overlap}


def _count_note_zh(document: StoredResult, parameters: ScanParameters, *, returned: int) -> str:
    if returned >= parameters.count:
        return f"已返回请求的 {parameters.count} 条作品"
    if document.get("keyword") is not None:
        return "关键词模式只返回综合搜索相关作品，不做音频核验，不计入同款排名"
    found = f"请求 {parameters.count} 条，实际返回 {returned} 条，不重复也不生成数据"
    if parameters.viral_only and document["confirmed_count"] > returned:
        return f"点赞数达到 {parameters.viral_threshold} 的已确认作品不足：{found}"
    if document["sources_ended_by_exhaustion"].get("music"):
        return f"公开作品不足，公开列表已读完：{found}"
    return f"本次扫描范围内的已确认作品不足：{found}；可增大 candidate_limit 后重试"
