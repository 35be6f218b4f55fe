"""Why a pair of sounds was judged so: every reason of a verdict with its texts.

The only declaration of them: console, reports, plots and command line take the texts from here.
"""

from collections.abc import Mapping

from pipelines.documents.messages import Message, messages_of
from pipelines.documents.stop_reasons import STOPS
from warehouse.records.errors import BudgetSpentError

_JUDGED: Mapping[str, Message] = {
    "same_music_id": Message("it uses the music id of the track", "使用该曲目的音乐 ID"),
    "verified_music_id": Message(
        "it uses another music id that carries the recording", "使用另一个含该录音的音乐 ID"
    ),
    "no_music_id": Message("it names no music id", "未标明音乐 ID"),
    "verify_audio_off": Message("audio verification was off", "未开启音频核验"),
    "not_read": Message("its page was not read", "未读取其页面"),
    "whole_rule_met": Message("the whole overlap meets the limits", "整体重叠满足阈值"),
    "local_rule_met": Message("a segment meets the limits", "局部片段满足阈值"),
    "distances_above_limits": Message("the distances are above the limits", "距离超过阈值"),
    "score_below_threshold": Message("the score is below the threshold", "综合得分低于阈值"),
    "tempo_drifts": Message("the tempo drifts apart", "速度逐渐偏离"),
    "speed_variant": Message(
        "the same recording at another speed, with changed pitch", "同一录音，变速且音高随之变化"
    ),
    "tempo_variant": Message("the same recording at another tempo", "同一录音，变速不变调"),
    "pitch_variant": Message("the same recording at another pitch", "同一录音，变调不变速"),
    "pitch_and_speed_variant": Message(
        "the same recording with tempo and pitch changed independently", "同一录音，分别变速和变调"
    ),
    "common_part_too_short": Message(
        "only a part of the compared window is common", "比对窗口中仅部分相同"
    ),
    "excerpt_variant": Message(
        "2 to 5.5 s of the same recording, too short for a confirmation",
        "同一录音的 2 至 5.5 秒，过短而不能确认",
    ),
    "looped_excerpt_variant": Message(
        "2 to 5.5 s of the same recording, repeated", "同一录音的 2 至 5.5 秒，循环播放"
    ),
    "overlap_too_short": Message("the overlap is too short to compare", "可比对的部分过短"),
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
        "only voice or ambient sound matches, over different music",
        "仅人声或环境声相同，音乐不同",
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
