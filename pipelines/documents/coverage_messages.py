"""English and Chinese messages about the sources, estimates and random audit of a coverage report.

Shared by command line, report and console. No numbers are computed here.
"""

from collections.abc import Mapping

from pipelines.documents.messages import Message, counted, surface_message
from pipelines.documents.stop_reasons import stop_message
from warehouse.records.coverage import EstimateUnit
from warehouse.records.values import ReadOnlyDocument

METHODS: Mapping[str, Message] = {
    "chao1": Message("Chao1", "Chao1"),
    "ichao1": Message("iChao1", "iChao1"),
    "chao2": Message("Chao2", "Chao2"),
    "ichao2": Message("iChao2", "iChao2"),
    "good_turing": Message("Good-Turing", "Good-Turing"),
}
ASSUMPTIONS: Mapping[str, Message] = {
    "screens_show_any_music_id": Message(
        "Assumption: first screens, hashtags and the search show videos of unknown music ids as "
        "readily as those of known ones.",
        "假设：首屏、话题与搜索展示未知音乐 ID 作品的可能性与已知的相同。",
    ),
    "lists_of_known_ids_are_complete": Message(
        "Assumption: first screens, hashtags and the search show videos of unknown music ids as "
        "readily as those of known ones, whose lists were read to the end.",
        "假设：首屏、话题与搜索展示未知音乐 ID 作品的可能性与已知的相同，"
        "且已知 ID 的列表均已读完。",
    ),
}
_NOT_COMPARED = Message("other music ids were not compared by audio", "未对其他音乐 ID 做音频比对")
NOT_ESTIMATED: Mapping[str, Message] = {
    "not_compared": _NOT_COMPARED,
    "one_source": Message(
        "fewer than two sources besides music lists", "音乐列表以外的来源不足两个"
    ),
    "too_few": Message(
        "too few confirmed videos outside music lists", "音乐列表以外确认的作品过少"
    ),
    "no_overlap": Message("no music id was met twice", "没有音乐 ID 出现两次"),
    "lists_not_read": Message(
        "lists of confirmed music ids were not read to the end", "部分已确认音乐 ID 的列表未读完"
    ),
    "not_audited": Message(
        "videos were left out, and no random audit says how many of them carry the recording",
        "有作品未被列为候选，且没有抽查可说明其中有多少使用该录音",
    ),
    "sample_too_thin": Message(
        "most videos outside music lists are of music ids met once",
        "音乐列表以外的作品大多属于仅出现一次的音乐 ID",
    ),
}
NOT_AUDITED: Mapping[str, Message] = {
    "switched_off": Message("the audit is switched off", "抽查已关闭"),
    "not_compared": _NOT_COMPARED,
    "nothing_left": Message("every video that was seen is a candidate", "所见作品均已列为候选"),
    "no_reference": Message("the track has no sound to compare with", "没有可用于比对的参考音频"),
    "none_comparable": Message(
        "none of the drawn videos could be compared", "抽到的作品均无法比对"
    ),
}
AUDIT_VERDICTS: Mapping[str, Message] = {
    "confirmed": Message("carries the recording", "含该录音"),
    "variant": Message("carries it changed, or a few seconds of it", "含变速、变调或短片段版本"),
    "rejected": Message("does not carry it", "不含该录音"),
    "not_comparable": Message("cannot be compared", "无法比对"),
    "unavailable": Message("not available", "不可访问"),
    "not_read": Message("not read", "未读取"),
}
UNITS: Mapping[str, Message] = {
    "music_id": Message("Music ids with the recording", "含该录音的音乐 ID"),
    "video": Message("Videos with the recording", "含该录音的作品"),
}


def coverage_estimate_sentence(unit: EstimateUnit, estimate: ReadOnlyDocument) -> Message:
    """Describe an estimate with its interval and method, or why there is none."""
    what, observed = UNITS[unit], int(estimate["observed"])
    if estimate["reason"] is not None:
        why = NOT_ESTIMATED[str(estimate["reason"])]
        return Message(
            f"{what.en}: {observed:,} confirmed; how many a guest could reach cannot be "
            f"estimated: {why.en}.",
            f"{what.zh}：已确认 {observed:,} 个，访客可见总数无法估计：{why.zh}。",
        )
    lower, upper = estimate["interval_95"]
    listed = int(estimate.get("listed", 0))
    more_en = f", {listed:,} more listed under confirmed music ids" if listed else ""
    more_zh = f", 已确认音乐 ID 的列表中另有 {listed:,} 个未比对" if listed else ""
    method, point = METHODS[str(estimate["method"])], round(estimate["point"])
    videos = int(estimate["sample_size"])
    sources = int(estimate["source_count"])
    return Message(
        f"{what.en}: {observed:,} confirmed{more_en}; a guest could reach about {point:,}, 95 % "
        f"interval {lower:,} to {upper:,} ({method.en}, from {counted(videos, 'video')} of "
        f"{counted(sources, 'source')}).",
        f"{what.zh}：已确认 {observed:,} 个{more_zh}，访客可见约 {point:,} 个，95% 区间 "
        f"{lower:,} 至 {upper:,}（{method.zh}，依据 {sources:,} 个来源的 {videos:,} 个作品）。",
    )


def coverage_estimate_sentences(estimates: ReadOnlyDocument | None) -> list[Message]:
    """Describe both estimates and what they assume; nothing for results of earlier versions."""
    if not estimates:
        return []
    sentences = [
        coverage_estimate_sentence("music_id", estimates["music_ids"]),
        coverage_estimate_sentence("video", estimates["videos"]),
    ]
    named = [estimates["music_ids"]["assumption"], estimates["videos"]["assumption"]]
    assumed = [str(name) for name in named if name is not None]
    return [*sentences, *(ASSUMPTIONS[name] for name in assumed[-1:])]


def audit_sentence(audit: ReadOnlyDocument) -> Message:
    """Describe the random audit with its limit, or why there is none."""
    pool = int(audit["pool"])
    if audit["reason"] is not None:
        why = NOT_AUDITED[str(audit["reason"])]
        return Message(
            f"Random audit: {counted(pool, 'video')} seen and not chosen as candidates; how "
            f"many of them carry the recording is unknown: {why.en}.",
            f"随机抽查：有 {pool:,} 个所见作品未列为候选，其中含该录音的数量未知：{why.zh}。",
        )
    share, most = float(audit["upper_bound_share"]), int(audit["upper_bound_count"])
    drawn, compared, carriers = (int(audit[name]) for name in ("drawn", "compared", "found"))
    confidence = round(100 * float(audit["confidence"]))
    return Message(
        f"Random audit: among {counted(pool, 'video')} seen and not chosen as candidates, "
        f"at most {100 * share:.1f} % of the comparable ones ({most:,}) carry the recording "
        f"({confidence} % confidence, {drawn:,} drawn, {compared:,} compared, {carriers:,} found).",
        f"随机抽查：{pool:,} 个未列为候选的所见作品中，可比对者至多 {100 * share:.1f} % "
        f"（{most:,} 个）含该录音（置信度 {confidence}%，抽取 {drawn:,} 个，比对 "
        f"{compared:,} 个，发现 {carriers:,} 个）。",
    )


def audit_sentences(audit: ReadOnlyDocument | None) -> list[Message]:
    """Describe the random audit; nothing for results of earlier versions and discoveries."""
    return [audit_sentence(audit)] if audit else []


def source_sentence(source: ReadOnlyDocument) -> Message:
    """Describe one source of the coverage report: what was read, and why reading stopped."""
    surface, stop = surface_message(source["surface"]), stop_message(source["stop_reason"])
    items, new = source["items"], source["new_items"]
    requests, pages = source["requests"], source["pages"]
    foreign = source.get("foreign_rows") or 0
    others = f", {foreign:,} of another account, hashtag or music id" if foreign else ""
    others_zh = f"，{foreign:,} 项属于其他账号、话题或音乐 ID" if foreign else ""
    return Message(
        f"{surface.en[0].upper()}{surface.en[1:]}: {counted(items, 'item')}, {new:,} of "
        f"them new{others}, on {counted(pages, 'page')} with {counted(requests, 'request')}; "
        f"stopped because {stop.en}.",
        f"{surface.zh}：请求 {requests:,} 次，读取 {pages:,} 页，共 {items:,} 项，"
        f"其中新增 {new:,} 项{others_zh}；停止原因：{stop.zh}。",
    )
