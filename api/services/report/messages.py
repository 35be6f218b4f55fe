"""Plain words, English and Chinese, for the machine words of a result: surfaces, stop reasons,
link types, verdicts. Terminal and report say the same. No numbers are made here.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Words:
    """The same thing said twice."""

    en: str
    zh: str


SURFACES: Mapping[str, Words] = {
    "music_info": Words("the track's own page", "音乐信息页"),
    "music_list": Words("the list of works under a music id", "音乐作品列表"),
    "author_posts": Words("first screens of authors", "作者主页首屏"),
    "user_posts": Words("first screens of authors", "作者主页首屏"),
    "user_page": Words("profile pages of authors", "作者主页"),
    "hashtag_list": Words("first screens of hashtags", "话题首屏"),
    "video_detail": Words("public video detail pages", "公开作品详情页"),
    "sound": Words("sound streams", "音频流"),
    "media": Words("sound streams", "音频流"),
    "search": Words("the guest search", "访客综合搜索"),
    "video_page": Words("share pages of works", "作品分享页"),
    "slides_info": Words("photo posts", "图文作品"),
    "hashtag_info": Words("hashtags", "话题信息"),
    "hashtag_page": Words("pages of hashtags", "话题页"),
    "music_page": Words("the track's share page", "音乐分享页"),
    "music_app": Words("the track's works in the official app", "官方应用内的音乐作品"),
    "app_work": Words("works in the official app", "官方应用内的作品"),
    "short_link": Words("short links", "短链接"),
    "search_stream": Words("the guest search, first screen", "访客搜索首屏"),
    "search_single": Words("the guest search, further pages", "访客搜索翻页"),
    "search_page": Words("the search page", "搜索页"),
    "chart_issues": Words("issues of the chart", "榜单期次"),
    "chart_songs": Words("songs of the chart", "榜单歌曲"),
    "account_profile": Words("account profiles", "账号主页"),
    "user_info": Words("account profiles", "账号信息"),
}

STOPS: Mapping[str, Words] = {
    "completed": Words("everything we asked for was read", "要读的都已读完"),
    "exhausted": Words("nothing more was shown", "平台没有更多内容"),
    "no_more": Words("nothing more was shown", "平台没有更多内容"),
    "no_new_items": Words("the next page showed nothing new", "下一页没有新内容"),
    "page_limit": Words("we read only the first screen of each", "每个来源只读首屏"),
    "limit_reached": Words("our own limit was reached", "达到本次任务的上限"),
    "candidate_limit": Words("the candidate pool was full", "候选池已满"),
    "account_profile_limit": Words("enough profiles were read", "账号资料数量已达上限"),
    "request_budget": Words("the request budget was used up", "请求预算已用完"),
    "batch_target_reached": Words("enough new works were found", "新作品已达本次目标"),
    "cursor_stalled": Words("the list repeated itself instead of going on", "翻页停滞"),
    "empty_ambiguous": Words("the answer was empty without a reason", "返回为空且未说明原因"),
    "unavailable": Words("no longer shown by the platform", "平台已不再展示"),
    "cancelled": Words("somebody cancelled", "任务被取消"),
    "provider_unsupported": Words("the chosen source reads no further", "所选数据源不再深入"),
    "not_in_this_version": Words("this version does not read it yet", "此版本尚未读取"),
    "upstream_empty": Words("the platform answered with nothing", "平台返回空响应"),
    "upstream_page_without_data": Words("the page came without its data", "页面没有数据"),
    "upstream_verification": Words(
        "the platform asked for verification, which we never solve", "平台要求验证, 我们不绕过"
    ),
    "upstream_login_required": Words("an account was demanded; we use none", "平台要求登录"),
    "upstream_forbidden": Words("the platform refused", "平台拒绝访问"),
    "upstream_rate_limited": Words("the platform asked us to slow down", "平台限流"),
    "upstream_region_blocked": Words("the platform sends this region elsewhere", "地区限制"),
    "upstream_substitution": Words("another item came than was asked for", "返回了别的内容"),
    "upstream_structure_changed": Words("the page looked unlike anything known", "页面结构变化"),
    "upstream_unreachable": Words("the platform could not be reached", "平台无法访问"),
    "upstream_budget_spent": Words("our own daily request budget was used up", "每日预算用尽"),
    "audio_unavailable": Words("no sound could be read", "无法读取音频"),
    "mobile_device_unavailable": Words("the Android device could not be used", "安卓设备不可用"),
    "mobile_app_unreadable": Words("the app on the device could not be read", "无法读取设备应用"),
}

NOT_READ: Mapping[str, Words] = {
    "no_title_to_search": Words("the track has no title to search for", "无可搜索的标题"),
}

LINKS: Mapping[str, Words] = {
    "exact_music_id": Words("same music id", "同一音乐 ID"),
    "audio_fingerprint_match": Words("heard", "音频核验"),
    "verified_music_id_graph": Words("music id heard", "音乐 ID 已核验"),
}

RECALL_OF = Words(
    "Recall is of public videos whose own sound carries the recording at its own speed: under the "
    "track's own music id for the same music id, under any other for the two ways of listening, "
    "which share these videos. Reachable: a surface that a guest can read leads to it.",
    "召回率的分母: 作品自身声音以原速包含该录音的公开作品。同一音乐 ID 只计该音乐 ID 下的作品; "
    "两种音频关联共用其他音乐 ID 下的作品。可达: 访客可读的页面能够找到。",
)
BY_NAME = Words(
    "Searched by name: related by public words, nothing is confirmed.",
    "按名称搜索: 仅按公开文字关联, 不做同款核验。",
)
RELEVANCE: Mapping[str, Words] = {
    "exact_title": Words("names the song", "标题直接命中"),
    "music_id_corroborated": Words("uses a verified sound", "同款音乐链佐证"),
    "conflicting_music_title": Words("names it, other song's sound", "音乐标题冲突"),
    "expanded_candidate": Words("candidate", "扩展候选"),
}

VARIANTS: Mapping[str, Words] = {
    "speed": Words("sped up or slowed", "变速 (音高随之变化)"),
    "tempo": Words("another tempo", "变速不变调"),
    "pitch": Words("another pitch", "变调不变速"),
}

OBSERVATIONS: Mapping[str, Words] = {
    "likely_cover": Words("likely a cover", "可能是翻唱"),
    "uncertain": Words("uncertain, worth hearing", "不确定, 建议试听"),
}

REASONS: Mapping[str, Words] = {
    "whole_rule_met": Words("the whole overlap meets the limits", "整体重叠满足阈值"),
    "local_rule_met": Words("a stretch meets the limits", "局部片段满足阈值"),
    "distances_above_limits": Words("the distances are above the limits", "距离超过阈值"),
    "score_below_threshold": Words("the score is too low", "综合得分不足"),
    "tempo_drifts": Words("the tempo drifts apart", "速度逐渐偏离"),
    "speed_variant": Words(
        "the same recording, sped up or slowed with its pitch", "同一录音, 变速且音高随之变化"
    ),
    "tempo_variant": Words("the same recording at another tempo", "同一录音, 变速不变调"),
    "pitch_variant": Words("the same recording at another pitch", "同一录音, 变调不变速"),
    "overlap_too_short": Words("too little of both to compare", "可比对的部分过短"),
    "nothing_to_compare": Words("there was nothing to compare", "没有可比对的内容"),
    "no_reference_sound": Words("the track itself could not be heard", "无法读取参考音频"),
    "silent_placeholder": Words("the work has no sound", "作品没有声音"),
    "tones_differ": Words(
        "only a voice or a crowd is the same, over other tones", "仅人声或环境声相同, 音乐不同"
    ),
}

NEVER_EVERYTHING = Words(
    "This is what a guest could be shown, never a full list of the platform.",
    "结果只含访客可见的公开内容, 不是平台全量枚举。",
)
DEMO_BANNER = Words("demo data, invented on this machine", "演示数据, 由本机虚构")
EXPERIMENTAL_BANNER = Words("experimental source, may stop any day", "实验性数据源, 随时可能失效")


def surface_words(surface: str) -> Words:
    """Plain words of a surface; the machine word itself where none are known."""
    return SURFACES.get(surface, Words(surface, surface))


def stop_words(reason: str) -> Words:
    """Plain words of a stop reason; the machine word itself where none are known."""
    return STOPS.get(reason, Words(reason.replace("_", " "), reason))


def relevance_words(level: str) -> Words:
    """Plain words of a relation by public words."""
    return RELEVANCE.get(level, Words(level, level))


def link_words(link_type: str) -> Words:
    """Plain words of a link type."""
    return LINKS.get(link_type, Words(link_type, link_type))


def variant_words(kind: str) -> Words:
    """Plain words of a kind of variant."""
    return VARIANTS.get(kind, Words(kind, kind))


def observation_words(name: str) -> Words:
    """Plain words of what a rejected pair is likely to be."""
    return OBSERVATIONS.get(name, Words(name.replace("_", " "), name))


def reason_words(reason: str) -> Words:
    """Plain words of why a pair was judged so; the machine word itself where none are known."""
    return REASONS.get(reason, Words(reason.replace("_", " "), reason))


def source_sentence(source: Mapping[str, Any]) -> Words:
    """One source of the coverage ledger as a sentence: what we saw, and why we stopped."""
    surface, stop = surface_words(source["surface"]), stop_words(source["stop_reason"])
    items, new = source["items"], source["new_items"]
    requests, pages = source["requests"], source["pages"]
    return Words(
        f"{surface.en[0].upper()}{surface.en[1:]}: we saw {counted(items, 'item')}, {new:,} of "
        f"them new, on {counted(pages, 'page')} with {counted(requests, 'request')}; "
        f"we stopped because {stop.en}.",
        f"{surface.zh}: 请求 {requests:,} 次, 读取 {pages:,} 页, 看到 {items:,} 项, "
        f"其中新增 {new:,} 项; 停止原因: {stop.zh}。",
    )


def not_reached_sentences(names: Iterable[str]) -> list[Words]:
    """What a scan meant to read and did not: `surface:reason` in words, `surface:id` counted."""
    parts = [name.partition(":") for name in names]
    counts = Counter(surface for surface, _, what in parts if what not in NOT_READ)
    reasons = [(surface, NOT_READ[what]) for surface, _, what in parts if what in NOT_READ]
    return [
        *(_about(surface, reason) for surface, reason in reasons),
        *(
            _about(surface, Words(f"{number:,} not reached", f"{number:,} 项未读取"))
            for surface, number in counts.items()
        ),
    ]


def estimate_sentence(estimate: Mapping[str, Any]) -> Words:
    """The lower bound of what was not met, never to be read as a count."""
    bound = int(estimate["lower_bound"])
    return Words(
        f"Estimate, no count ({estimate['method']}): at least {counted(bound, 'more music id')} "
        f"with the recording that no screen showed.",
        f"估计, 非计数 ({estimate['method']}): 至少还有 {bound:,} 个未见的同款音乐 ID。",
    )


def _about(surface: str, what: Words) -> Words:
    words = surface_words(surface)
    return Words(f"{words.en[0].upper()}{words.en[1:]}: {what.en}.", f"{words.zh}: {what.zh}。")


def counted(number: int, noun: str) -> str:
    """`1 page`, `2 pages`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def evidence_words(evidence: Mapping[str, Any] | None) -> str:
    """Evidence of an audio link in short: segment, score and the two distances."""
    if not evidence:
        return "—"
    return (
        f"{evidence.get('segment') or '?'} {_figure(evidence.get('overlap_s'), 0)} s · "
        f"score {_figure(evidence.get('score'))} · "
        f"chroma {_figure(evidence.get('chroma_distance'))} · "
        f"mfcc {_figure(evidence.get('mfcc_distance'))}"
    )


def short_evidence_words(evidence: Mapping[str, Any]) -> str:
    """The same for a narrow place: score, chroma and MFCC distance."""
    return (
        f"{_figure(evidence.get('score'))} · c {_figure(evidence.get('chroma_distance'))} · "
        f"m {_figure(evidence.get('mfcc_distance'))}"
    )


def _figure(value: float | None, digits: int = 2) -> str:
    return "?" if value is None else f"{value:.{digits}f}"
