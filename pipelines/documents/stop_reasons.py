"""Why reading of a source stopped: every reason with its texts and what it means for coverage.

The only declaration of them: the coverage report, the console and the reports take texts and
kinds from here. The names of upstream errors are reasons, too; other errors read as their names.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pipelines.documents.messages import SOUND_REASONS, Message, messages_of

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
    "limit_reached": StopReason("the limit of the job was reached", "达到本次任务的上限", "limit"),
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
    "cancelled": StopReason("the job was cancelled", "任务已取消", "limit"),
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
