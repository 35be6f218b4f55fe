"""English and Chinese messages for the codes of a result: surfaces, stop reasons, links, verdicts.

Shared by command line, report and console. No numbers are computed here.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from warehouse.records.coverage import EstimateUnit
from warehouse.records.errors import BudgetSpentError
from warehouse.records.values import ReadOnlyDocument
from warehouse.sound_formats import CODEC_NAMES, FORMAT_NAMES

LANGUAGES: Mapping[str, str] = {"en": "en", "zh": "zh-Hans"}
"""The languages of reports, with their names in HTML."""


@dataclass(frozen=True, slots=True)
class Message:
    """The same message in both languages."""

    en: str
    zh: str

    def text(self, language: str) -> str:
        """Return the message in a language of `LANGUAGES`."""
        return self.zh if language == "zh" else self.en


SURFACES: Mapping[str, Message] = {
    "music_info": Message("the music page of the track", "音乐信息页"),
    "music_list": Message("the video list of a music id", "音乐作品列表"),
    "user_by_handle": Message("accounts by handle", "按账号名查询账号"),
    "trends_list": Message("the trends list of a music id", "热门话题作品列表"),
    "service_track": Message("the song's page in the music service", "音乐服务的歌曲页"),
    "service_audio": Message("the song's audio in the music service", "音乐服务的歌曲音频"),
    "catalog_matches": Message("videos found by scans of other tracks", "其他音乐扫描到的作品"),
    "random_audit": Message("videos drawn at random", "随机抽查的作品"),
    "author_posts": Message("author pages, first screens", "作者主页首屏"),
    "user_posts": Message("author pages, first screens", "作者主页首屏"),
    "user_page": Message("author profile pages", "作者主页"),
    "hashtag_list": Message("hashtag pages, first screens", "话题首屏"),
    "video_detail": Message("public video detail pages", "公开作品详情页"),
    "sound": Message("audio streams", "音频流"),
    "media": Message("audio streams", "音频流"),
    "search": Message("the guest search", "访客综合搜索"),
    "video_page": Message("video share pages", "作品分享页"),
    "slides_info": Message("video details by id", "作品详情接口"),
    "*": Message("every surface of the host", "该主机的全部来源"),
    "web_detail": Message("video details of the desktop pages", "网页版作品详情"),
    "web_video_page": Message("desktop video pages", "网页版作品页"),
    "hashtag_info": Message("hashtag details", "话题信息"),
    "hashtag_page": Message("hashtag share pages", "话题页"),
    "music_page": Message("the share page of the track", "音乐分享页"),
    "music_app": Message("the video list in the official app", "官方应用内的音乐作品"),
    "app_work": Message("videos in the official app", "官方应用内的作品"),
    "short_link": Message("short links", "短链接"),
    "search_stream": Message("the guest search, first screen", "访客搜索首屏"),
    "search_single": Message("the guest search, further pages", "访客搜索翻页"),
    "search_page": Message("the search page", "搜索页"),
    "chart_issues": Message("chart issues", "榜单期次"),
    "chart_songs": Message("chart songs", "榜单歌曲"),
    "account_profile": Message("account profiles", "账号主页"),
    "user_info": Message("account profiles", "账号信息"),
}

QUESTIONS: Mapping[str, Message] = {
    "detail": Message("video details", "作品详情"),
    "track": Message("the track", "音乐信息"),
    "music_list": Message("videos of a music id", "音乐作品列表"),
    "profile": Message("accounts", "账号资料"),
    "handle": Message("accounts by handle", "按账号名查询账号"),
    "posts": Message("posts of an account", "账号作品"),
    "hashtag": Message("hashtags", "话题信息"),
    "hashtag_list": Message("videos of a hashtag", "话题作品"),
    "search": Message("the guest search", "访客综合搜索"),
}

NOT_READ: Mapping[str, Message] = {
    "no_title_to_search": Message("the track has no title to search for", "音乐没有可搜索的标题"),
}

LINKS: Mapping[str, Message] = {
    "exact_music_id": Message("same music id", "同一音乐 ID"),
    "audio_fingerprint_match": Message("matched by audio", "音频匹配"),
    "verified_music_id_graph": Message("matched music id", "音乐 ID 已核验"),
}

TRUE_LABELS = Message(
    "A label is true if its own claim is: “same music id” claims that the video names the music id "
    "of the track, “matched music id” another one whose sound has the recording, “matched by "
    "audio” that the video itself plays it. Under a true label a video may still be muted or play "
    "something else; precision counts only videos that play the recording.",
    "标签为真：“同一音乐 ID”指作品标注该音乐 ID; “音乐 ID 已核验”指作品标注另一音乐 ID "
    "且其原声包含该录音；“音频匹配”指作品自身播放该录音。标签为真的作品仍可能静音或播放其他声音；"
    "精确率只计自身播放该录音的作品。",
)
RECALL_OF = Message(
    "Recall counts public videos whose own audio has the recording at original speed: under the "
    "track's music id for the link “same music id”, under any other music id for the two links by "
    "audio, which share these videos. Reachable: a surface that a guest can read leads to it.",
    "召回率的分母：自身音频以原速包含该录音的公开作品。同一音乐 ID 只计该音乐 ID 下的作品；"
    "两种音频关联共用其他音乐 ID 下的作品。可达：访客可读的页面能够找到。",
)
BY_NAME = Message(
    "Search by name: related by public text only, no match is confirmed.",
    "按名称搜索：仅按公开文字关联，不做同款核验。",
)
RELEVANCE: Mapping[str, Message] = {
    "exact_title": Message("exact title", "标题直接命中"),
    "music_id_corroborated": Message("uses a verified music id", "同款音乐佐证"),
    "conflicting_music_title": Message("other song's title", "音乐标题冲突"),
    "expanded_candidate": Message("candidate", "扩展候选"),
}

VARIANTS: Mapping[str, Message] = {
    "speed": Message("changed speed", "变速（音高随之变化）"),
    "tempo": Message("changed tempo", "变速不变调"),
    "pitch": Message("changed pitch", "变调不变速"),
    "pitch_and_speed": Message("changed tempo and pitch", "变速且变调"),
    "excerpt": Message("a few unchanged seconds", "短片段（未改动）"),
}

AUDIO_CHECKS: Mapping[str, Message] = {
    "compared": Message("own sound compared", "已比对本作品音频"),
    "reference": Message("reference of the comparisons", "比对的参考音频"),
    "same_sound": Message("sound id compared", "音乐 ID 已比对"),
    "not_compared": Message("same sound id, not listened to", "音乐 ID 相同，未试听比对"),
}
"""What was measured of a video's own sound."""

FIGURES: Mapping[str, Message] = {
    "use_count": Message("videos with the sound on the platform", "平台使用量"),
    "confirmed_count": Message("confirmed videos", "已确认作品"),
    "music_id_count": Message("music ids with this recording", "使用同一录音的音乐 ID"),
    "unique_account_count": Message("accounts (at least)", "账号数（至少）"),
    "hot_score_sum": Message("total hot score", "作品总热度"),
    "follower_count": Message("followers", "粉丝"),
    "total_favorited": Message("likes received", "获赞总数"),
    "aweme_count": Message("posts", "作品数"),
    "following_count": Message("following", "关注"),
    "favoriting_count": Message("likes given", "喜欢数"),
    "work_count": Message("confirmed videos", "已确认作品"),
    "view_count": Message("views", "播放"),
    "user_count": Message("users", "参与人数"),
    "digg_count": Message("likes", "点赞"),
    "comment_count": Message("comments", "评论"),
    "collect_count": Message("bookmarks", "收藏"),
    "share_count": Message("shares", "分享"),
    "hot_score": Message("hot score", "热度"),
}
"""Labels of the counts of tracks, accounts, hashtags and videos, wherever they are shown.

The console has them as headings from the generated `api/console/app/messages/figures.js`.
"""


def figure_heading(name: str) -> Message:
    """Return the label of a count as the heading of a column: with a capital letter."""
    label = FIGURES[name]
    return Message(label.en.capitalize(), label.zh)


OBSERVATIONS: Mapping[str, Message] = {
    "likely_cover": Message("likely a cover", "可能是翻唱"),
    "likely_reversed": Message("likely played backwards", "可能是倒放"),
    "shared_voice": Message("only a voice is shared", "可能只有人声相同"),
    "uncertain": Message("uncertain, listen to decide", "不确定，建议试听"),
}

RELATIONS: Mapping[str, Message] = {
    "same_recording": Message("same recording", "同一录音"),
    "variant": Message("variant", "变体"),
    "version": Message("likely another version", "可能是另一版本"),
    "shares_part": Message("shares a part", "部分相同"),
}
SHARED_PARTS: Mapping[str, Message] = {
    "voice": Message("shares only a voice", "仅人声相同"),
    "opening_sound": Message("shares only the opening sound", "仅片头音效相同"),
    "closing_sound": Message("shares only the closing sound", "仅片尾音效相同"),
    "common_sound": Message("shares only a common sound", "仅含相同的通用音效"),
    "loop": Message("shares only a loop", "仅循环素材相同"),
    "layer": Message("shares only one layer, such as the lead", "仅某一声部相同"),
}

SOUND_REASONS: Mapping[str, Message] = {
    "file_missing": Message("the file does not exist", "文件不存在"),
    "not_a_file": Message(
        "it is not a file, but a folder, a pipe, a URL or a link to nothing",
        "不是文件，而是文件夹、管道、网址或失效的链接",
    ),
    "file_empty": Message("the file is empty", "文件为空"),
    "file_unreadable": Message("the file cannot be read", "文件无法读取"),
    "file_too_large": Message("the file is larger than 500 MB", "文件超过 500 MB"),
    "unsupported_format": Message(
        f"the format is not supported; these are: {FORMAT_NAMES}",
        f"不支持该格式；支持的格式：{FORMAT_NAMES}",
    ),
    "unsupported_codec": Message(
        f"the codec of its sound is not supported; these are: {CODEC_NAMES}",
        f"不支持该音频编码；支持的编码：{CODEC_NAMES}",
    ),
    "unsupported_rate": Message(
        "the sample rate is not between 8 and 192 kHz", "采样率不在 8 至 192 kHz 之间"
    ),
    "no_sound_stream": Message("the file has no sound", "文件没有声音"),
    "undecodable": Message(
        "the file cannot be decoded: it is damaged, or not a sound", "无法解码：文件损坏或不是音频"
    ),
    "altered_by_host": Message(
        "the media host altered the file, so it cannot be decoded", "媒体服务器改动了文件，无法解码"
    ),
    "too_short": Message("the sound is shorter than 2 s", "声音短于 2 秒"),
    "silent": Message("the sound is silent", "声音为静音"),
    "silent_start": Message(
        "the first 60 s are silent, and only these are used", "前 60 秒为静音，而比对只使用前 60 秒"
    ),
    "out_of_memory": Message("decoding needed too much memory", "解码所需内存过多"),
    "decoder_timed_out": Message("decoding took longer than 30 s", "解码超过 30 秒"),
    "decoder_crashed": Message("the decoder crashed", "解码器崩溃"),
    "not_stored": Message("its features are no longer stored", "其特征已不再保存"),
}
"""Why a sound cannot be compared."""

LEFT_OUT: Mapping[str, Message] = {
    "closed": Message("it refused lately", "近期被拒绝"),
    "sick": Message("it rarely answers", "很少返回数据"),
    "held_back": Message("another source was refused", "其他来源被拒绝"),
}

NOT_EXHAUSTIVE = Message(
    "Public pages as a guest sees them, never a full list of the platform.",
    "结果只含访客可见的公开内容，不是平台全量枚举。",
)
DEMO_BANNER = Message("demo data, generated on this machine", "演示数据，由本机生成")
EXPERIMENTAL_BANNER = Message(
    "experimental source, may stop working at any time", "实验性数据源，随时可能失效"
)


def messages_of(
    messages: Mapping[str, Message], *, as_words: bool = False
) -> Callable[[str], Message]:
    """Return a function that gives the message of a code, or the code itself if there is none.

    `as_words` writes a code without underscores in English.
    """

    def find(code: str) -> Message:
        return messages.get(code) or Message(code.replace("_", " ") if as_words else code, code)

    return find


surface_message = messages_of(SURFACES)
relevance_message = messages_of(RELEVANCE)
link_message = messages_of(LINKS)
variant_message = messages_of(VARIANTS)
observation_message = messages_of(OBSERVATIONS, as_words=True)
"""What a rejected pair is likely to be."""
relation_message = messages_of(RELATIONS, as_words=True)
shared_part_message = messages_of(SHARED_PARTS, as_words=True)
sound_message = messages_of(SOUND_REASONS, as_words=True)
question_message = messages_of(QUESTIONS, as_words=True)


def decision_sentences(decisions: Iterable[ReadOnlyDocument]) -> list[Message]:
    """Describe what the planner decided about the sources of each question."""
    by_question: dict[str, list[ReadOnlyDocument]] = {}
    for decision in decisions:
        by_question.setdefault(decision["question"], []).append(decision)
    return [
        _decided(question_message(question), sources) for question, sources in by_question.items()
    ]


def _decided(question: Message, sources: Iterable[ReadOnlyDocument]) -> Message:
    parts = [_source_decided(source) for source in sources]
    return _about(
        question,
        Message("; ".join(part.en for part in parts), "；".join(part.zh for part in parts)),
    )


def _source_decided(source: ReadOnlyDocument) -> Message:
    surface, answered, tried = (
        surface_message(source["surface"]),
        source["answered"],
        source["tried"],
    )
    left_out = [
        (_with_latest(why, source), number)
        for reason, why in LEFT_OUT.items()
        if (number := source[f"left_{reason}"])
    ]
    en = [f"{surface.en} answered {answered:,} of {tried:,}"]
    zh = [f"{surface.zh} {tried:,} 次请求中有数据 {answered:,} 次"]
    en += [f"not asked {counted(number, 'time')} because {why.en}" for why, number in left_out]
    zh += [f"因{why.zh}未请求 {number:,} 次" for why, number in left_out]
    return Message(", ".join(en), "，".join(zh))


def _with_latest(why: Message, source: ReadOnlyDocument) -> Message:
    """Say how often a source that rarely answers refused; results of earlier versions do not."""
    answers, refused = source.get("latest_answers", 0), source.get("latest_refusals", 0)
    if why is not LEFT_OUT["sick"] or not refused:
        return why
    return Message(
        f"it refused {refused:,} of its last {answers:,} requests",
        f"最近 {answers:,} 次请求中被拒绝 {refused:,} 次",
    )


def not_reached_sentences(names: Iterable[str]) -> list[Message]:
    """Describe what a scan planned to read and did not.

    `surface:reason` becomes a sentence, `surface:id` is counted.
    """
    parts = [name.partition(":") for name in names]
    counts = Counter(surface for surface, _, what in parts if what not in NOT_READ)
    reasons = [(surface, NOT_READ[what]) for surface, _, what in parts if what in NOT_READ]
    return [
        *(_about(surface_message(surface), reason) for surface, reason in reasons),
        *(
            _about(
                surface_message(surface),
                Message(f"{number:,} not reached", f"{number:,} 项未读取"),
            )
            for surface, number in counts.items()
        ),
    ]


def genuine_sentences(shares: Sequence[ReadOnlyDocument]) -> list[Message]:
    """Describe music lists with videos of other sounds; lists without any are not mentioned."""
    return [
        Message(
            f"List of music id {share['music_id']}: {share['own_rows']:,} of {share['rows']:,} "
            f"videos use this music id; the others are judged by their own sound.",
            f"音乐 ID {share['music_id']} 的列表：{share['rows']:,} 个作品中 {share['own_rows']:,} "
            f"个使用该音乐 ID，其余按各自原声判断。",
        )
        for share in shares
        if share["own_rows"] < share["rows"]
    ]


def _about(subject: Message, what: Message) -> Message:
    capital = f"{subject.en[0].upper()}{subject.en[1:]}"
    return Message(f"{capital}: {what.en}.", f"{subject.zh}：{what.zh}。")


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 page`, `2 pages`, `2 matches`."""
    ending = "" if number == 1 else "es" if noun.endswith("ch") else "s"
    return f"{number:,} {noun}{ending}"


def evidence_summary(evidence: ReadOnlyDocument | None) -> str:
    """Summarise the evidence of a link by audio: segment, score and the two distances."""
    if not evidence:
        return "—"
    return (
        f"{evidence.get('segment') or '?'} {_format_number(evidence.get('overlap_s'), 0)} s · "
        f"score {_format_number(evidence.get('score'))} · "
        f"chroma {_format_number(evidence.get('chroma_distance'))} · "
        f"mfcc {_format_number(evidence.get('mfcc_distance'))}"
    )


def searched_message(searched: ReadOnlyDocument | None) -> Message:
    """Say which edits a comparison looked for, and how much of each sound it used."""
    if not searched:
        return Message("what was searched was not recorded", "未记录搜索范围")
    excerpt_s = searched.get("min_excerpt_s")
    excerpts_en = f", unchanged from {excerpt_s:g} s" if excerpt_s else ""
    excerpts_zh = f"（未改动时不短于 {excerpt_s:g} 秒）" if excerpt_s else ""
    used_en = (
        f"first {searched['reference_s']:.0f} s of the reference and "
        f"{searched['candidate_s']:.0f} s of the candidate, "
        f"from {searched['min_overlap_s']:g} s in common{excerpts_en}"
    )
    used_zh = (
        f"参考的前 {searched['reference_s']:.0f} 秒与候选的前 {searched['candidate_s']:.0f} 秒，"
        f"共同片段不短于 {searched['min_overlap_s']:g} 秒{excerpts_zh}"
    )
    slow, fast = searched["speed"]
    if slow == fast:
        return Message(f"unchanged only; {used_en}", f"仅按原速原调；{used_zh}")
    low, high = searched["semitones"]
    least, most = searched["tempo_with_pitch"]
    both_en = both_zh = ""
    if least != most:
        both_en, both_zh = f", both × {least:g} to {most:g}", f"，两者同时 {least:g} 至 {most:g} 倍"
    return Message(
        f"speed or tempo × {slow:g} to {fast:g}, pitch {low:+g} to {high:+g} semitones"
        f"{both_en}; {used_en}",
        f"变速（含变调或不变调） {slow:g} 至 {fast:g} 倍，变调 {low:+g} 至 {high:+g} 个半音"
        f"{both_zh}；{used_zh}",
    )


def short_evidence_summary(evidence: ReadOnlyDocument) -> str:
    """Summarise evidence for a narrow column: score, chroma and MFCC distance."""
    score, chroma, mfcc = (
        _format_number(evidence.get(name)) for name in ("score", "chroma_distance", "mfcc_distance")
    )
    return f"{score} · c {chroma} · m {mfcc}"


def _format_number(value: float | None, digits: int = 2) -> str:
    return "?" if value is None else f"{value:.{digits}f}"


# Why reading of a source stopped: every reason with its texts and what it means for coverage.
#
# The only declaration of them: the coverage report, the console and the reports take texts and
# kinds from here. The names of upstream errors are reasons, too; other errors read as their names.

type StopKind = Literal["end", "dry", "limit", "problem"]
"""`end`: everything was read. `dry`: the list may go on, but a guest is shown nothing more of it.
`limit`: the job, or its budget, asked for no more. `problem`: anything else."""


@dataclass(frozen=True, slots=True)
class StopReason(Message):
    """Both texts of a stop reason, and its kind."""

    kind: StopKind = "problem"


STOPS: Mapping[str, StopReason] = {
    # the song of the music service, if its audio cannot be compared
    **{name: StopReason(reason.en, reason.zh) for name, reason in SOUND_REASONS.items()},
    "completed": StopReason("everything requested was read", "所需内容已全部读取", "end"),
    "exhausted": StopReason("the platform showed nothing more", "平台没有更多内容", "end"),
    "no_new_items": StopReason("the next page had nothing new", "下一页没有新内容", "dry"),
    "page_limit": StopReason("only first screens are read", "每个来源只读取首屏", "dry"),
    "limit_reached": StopReason("the limit of the scan was reached", "达到本次扫描的上限", "limit"),
    "candidate_limit": StopReason("the candidate pool was full", "候选池已满", "limit"),
    "search_candidate_limit": StopReason(
        "the target of all searches for the song was reached", "搜索结果总量已达目标", "limit"
    ),
    "search_page_limit": StopReason(
        "the page limit of a search term was reached", "达到单个搜索词的页数上限", "limit"
    ),
    "account_profile_limit": StopReason(
        "the profile limit was reached", "账号资料数量已达上限", "limit"
    ),
    "request_budget": StopReason("the request budget was used up", "请求预算已用完", "limit"),
    "batch_target_reached": StopReason(
        "the target of new videos was reached", "新作品数量已达本次目标", "limit"
    ),
    "cursor_stalled": StopReason("the cursor stalled", "翻页停滞", "dry"),
    "empty_ambiguous": StopReason(
        "the response was empty without a reason", "返回为空且未说明原因"
    ),
    "response_cut": StopReason("the response broke off before its end", "返回内容不完整，提前中断"),
    "deadline": StopReason("there was no time left to read it", "时间不足，未能读取", "limit"),
    "unavailable": StopReason("the platform no longer shows it", "平台已不再展示"),
    "disagrees_with_videos": StopReason(
        "it is another recording than the videos play", "与作品所用录音不一致，未作参考"
    ),
    "cancelled": StopReason("the scan was cancelled", "扫描已取消", "limit"),
    "provider_unsupported": StopReason(
        "the data source does not support more", "当前数据源不支持继续读取"
    ),
    "surface_off": StopReason("the profile patch switches it off", "配置补丁已停用该来源", "limit"),
    "not_in_this_version": StopReason("this version does not support it", "当前版本暂不支持"),
    "upstream_empty": StopReason("the platform returned an empty response", "平台返回空响应"),
    "upstream_page_without_data": StopReason("the page contained no data", "页面不含数据"),
    "upstream_verification": StopReason(
        "the platform required verification, which is never bypassed", "平台要求验证，本工具不绕过"
    ),
    "upstream_login_required": StopReason("the platform required a login", "平台要求登录"),
    "upstream_signature_demanded": StopReason(
        "the platform asked for a signed request, which is never made",
        "平台要求带签名的请求，本工具不生成签名",
    ),
    "upstream_forbidden": StopReason("the platform refused the request", "平台拒绝访问"),
    "upstream_rate_limited": StopReason("the platform limited the request rate", "平台限流"),
    "upstream_region_blocked": StopReason(
        "the platform does not serve this region", "平台不向该地区提供内容"
    ),
    "upstream_substitution": StopReason(
        "the platform returned a different item", "平台返回了其他内容"
    ),
    "upstream_structure_changed": StopReason("the page structure has changed", "页面结构已变化"),
    "upstream_refused_lately": StopReason(
        "the platform refused it lately, so it was not asked again", "平台近期一直拒绝，未再请求"
    ),
    "upstream_unreachable": StopReason("the platform was unreachable", "无法连接平台"),
    "upstream_budget_spent": StopReason(
        "the daily request budget was used up", "今日请求预算已用完", "limit"
    ),
    "audio_unavailable": StopReason("the audio could not be read", "无法读取音频"),
    "mobile_device_unavailable": StopReason("the Android device is unavailable", "安卓设备不可用"),
    "mobile_app_unreadable": StopReason(
        "the app on the device could not be read", "无法读取设备上的应用"
    ),
}

EXHAUSTED_REASONS = frozenset(name for name, stop in STOPS.items() if stop.kind in {"end", "dry"})
"""Stop reasons of a source with nothing left to read. `page_limit` is the first screen of an
account or a hashtag: deeper pages are never read."""


stop_message = messages_of(STOPS, as_words=True)


# Why a pair of sounds was judged so: every reason of a verdict with its texts.
#
# The only declaration of them: console, reports, plots and command line take the texts from here.

_JUDGED: Mapping[str, Message] = {
    "same_music_id": Message("it uses the music id of the track", "使用该曲目的音乐 ID"),
    "verified_music_id": Message(
        "it uses another music id that carries the recording", "使用另一个含该录音的音乐 ID"
    ),
    "no_music_id": Message("it names no music id", "未标明音乐 ID"),
    "verify_audio_off": Message("audio verification was off", "未开启音频核验"),
    "not_read": Message("its page was not read", "未读取其页面"),
    "whole_rule_met": Message("all that they have in common matches", "重合部分整体一致"),
    "local_rule_met": Message("a part of it matches", "其中一段一致"),
    "distances_above_limits": Message("it sounds different", "声音不同"),
    "score_below_threshold": Message("too little of the sound is the same", "一致程度不足"),
    "tempo_drifts": Message("the tempo drifts apart", "速度逐渐偏离"),
    "speed_variant": Message(
        "the same recording at another speed, with changed pitch", "同一录音，变速且音高随之变化"
    ),
    "tempo_variant": Message("the same recording at another tempo", "同一录音，变速不变调"),
    "pitch_variant": Message("the same recording at another pitch", "同一录音，变调不变速"),
    "pitch_and_speed_variant": Message(
        "the same recording with tempo and pitch changed independently", "同一录音，分别变速和变调"
    ),
    "common_part_too_short": Message("only a short part of it is the same", "仅有一小段相同"),
    "opening_sound": Message("only the sound at the beginning is the same", "仅开头音效相同"),
    "closing_sound": Message("only the sound at the end is the same", "仅结尾音效相同"),
    "common_sound": Message(
        "only a sound that many tracks have is the same", "仅有许多曲目常用的音效相同"
    ),
    "excerpt_variant": Message(
        "2 to 5.5 s of the same recording, too short for a confirmation",
        "同一录音的 2 至 5.5 秒，过短而不能确认",
    ),
    "looped_excerpt_variant": Message(
        "2 to 5.5 s of the same recording, repeated", "同一录音的 2 至 5.5 秒，循环播放"
    ),
    "overlap_too_short": Message("too little sound in common to compare", "可比对的部分过短"),
    "nothing_to_compare": Message("there was nothing to compare", "没有可比对的内容"),
    "no_reference_sound": Message("the reference audio could not be read", "无法读取参考音频"),
    "silent_placeholder": Message("the video has no sound", "作品没有声音"),
    "reference_altered_by_host": Message(
        "the media host altered the file of the reference, so it cannot be compared",
        "媒体服务器改动了参考音频文件，无法比对",
    ),
    "candidate_altered_by_host": Message(
        "the media host altered the file, so it cannot be compared",
        "媒体服务器改动了音频文件，无法比对",
    ),
    "tones_differ": Message(
        "only part of the sound is the same; its other tones differ", "仅部分声音相同，其余乐音不同"
    ),
}

_ROLES = {
    "reference": Message("reference", "参考音频"),
    "candidate": Message("candidate", "候选音频"),
}
_UNREAD: Mapping[str, Message] = {
    f"{name}_{reason}": Message(f"{role.en}: {what.en}", f"{role.zh}：{what.zh}")
    for name, role in _ROLES.items()
    for reason, what in STOPS.items()
    if what.kind == "problem" or reason == BudgetSpentError.type
}
REASONS: Mapping[str, Message] = {**_UNREAD, **_JUDGED}
"""`reference_` and `candidate_` before a reason say which of both sounds could not be compared."""
reason_message = messages_of({**STOPS, **REASONS}, as_words=True)
"""The message of a verdict's reason; a candidate that was not compared has a stop reason."""


# English and Chinese messages about the sources, estimates and random audit of a coverage report.
#
# Shared by command line, report and console. No numbers are computed here.

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
