"""Verdicts as sentences: whether a video plays the song, how much of it and how, or why not.

For readers who know nothing of distances and limits. What was measured is in the evidence; the
short reasons of tables and of the command line are in `messages.py`.
"""

from collections.abc import Mapping

from pipelines.documents.messages import (
    STOPS,
    Message,
    observation_message,
    reason_message,
    relation_message,
    shared_part_message,
)
from warehouse.records.evidence import PairEvidence, RejectionLabel, SharedPart, variant_kind

_LIKELY: Mapping[RejectionLabel, Message] = {
    "likely_cover": Message(
        "This video probably plays a cover: the melody is that of the song, the recording is "
        "another.",
        "作品播放的可能是翻唱：旋律相同，但不是同一录音。",
    ),
    "likely_reversed": Message(
        "This video probably plays the song backwards.", "作品可能倒放了这首歌。"
    ),
    "shared_voice": Message(
        "Only a voice is the same in this video; the music behind it is different.",
        "作品中可能只有人声与这首歌相同，配乐不同。",
    ),
    "uncertain": Message(
        "This video resembles the song, but too little for a match: listen and decide.",
        "作品与这首歌有相似之处，但不足以认定为同款，建议试听判断。",
    ),
}
_VERSION = Message(
    "This video probably plays another version of the song, such as a cover or a live performance: "
    "the composition is the same, the recording is another.",
    "作品播放的可能是这首歌的另一版本（如翻唱、现场版）：词曲相同，但不是同一录音。",
)
_SHARED: Mapping[SharedPart, Message] = {
    "voice": _LIKELY["shared_voice"],
    "opening_sound": Message(
        "Only the opening sound is the same in this video; the music after it is different.",
        "作品中仅片头音效与这首歌相同，之后的音乐不同。",
    ),
    "closing_sound": Message(
        "Only the closing sound is the same in this video; the music before it is different.",
        "作品中仅片尾音效与这首歌相同，之前的音乐不同。",
    ),
    "common_sound": Message(
        "Only a sound that many videos have is the same in this video; the music is different.",
        "作品中仅有许多作品常用的音效与这首歌相同，音乐不同。",
    ),
    "loop": Message(
        "Only a loop of the song is the same in this video; the rest of the music is different.",
        "作品中仅循环素材与这首歌相同，其余音乐不同。",
    ),
    "layer": Message(
        "Only one layer of the song, such as its lead, is in this video; the music around it is "
        "different.",
        "作品中仅含这首歌的某一声部（如主旋律），其余音乐不同。",
    ),
}
_REJECTED: Mapping[str, Message] = {
    "distances_above_limits": Message(
        "The music of this video sounds different from the song.", "作品中的音乐与这首歌不同。"
    ),
    "score_below_threshold": Message(
        "This video resembles the song in places, but too little of the sound is the same.",
        "作品与这首歌局部相似，但一致程度不足，不能认定为同款。",
    ),
    "tempo_drifts": Message(
        "The tempo of this video drifts away from that of the song, as in another recording.",
        "作品的速度与这首歌逐渐偏离，应为另一录音。",
    ),
    "common_part_too_short": Message(
        "Only a short part of this video is like the song, too little for a match.",
        "作品中仅有一小段与这首歌相同，不足以认定为同款。",
    ),
    "tones_differ": Message(
        "Part of the sound is the same in this video, such as a voice, but the other tones are "
        "different.",
        "作品中仅部分声音（如人声）与这首歌相同，其余乐音不同。",
    ),
    "opening_sound": _SHARED["opening_sound"],
    "closing_sound": _SHARED["closing_sound"],
}
_SOUNDS = {
    "reference": Message("Sound of the song", "歌曲音频"),
    "candidate": Message("Sound of the video", "作品音频"),
}
_UNCHANGED = Message("at original speed", "原速原调")
_BELOW_WHOLE_SECONDS = 10.0


def likely_kind(pair: PairEvidence) -> Message | None:
    """Return in a few words what a rejected pair shares, or else is likely to be."""
    if pair.shared_part is not None:
        return shared_part_message(pair.shared_part)
    if pair.relation == "version":
        return relation_message("version")
    return None if pair.observation is None else observation_message(pair.observation)


def verdict_sentence(pair: PairEvidence) -> Message:
    """Return a verdict as a sentence.

    `22 s of the song play in this video, at original speed.`
    """
    match pair.verdict:
        case "not_comparable":
            return _unknown(pair.reason)
        case "rejected":
            return _rejected(pair)
        case "confirmed" | "variant":
            return _matched(pair)


def _rejected(pair: PairEvidence) -> Message:
    """Say what a rejected pair shares, else what it is likely to be, else why it is no match."""
    if pair.shared_part is not None:
        return _SHARED[pair.shared_part]
    if pair.relation == "version":
        return _VERSION
    label = None if pair.observation is None else _LIKELY.get(pair.observation)
    why = reason_message(pair.reason)
    return (
        label
        or _REJECTED.get(pair.reason)
        or Message(f"This video is no match: {why.en}.", f"作品不是同款：{why.zh}。")
    )


def _matched(pair: PairEvidence) -> Message:
    """Say how much of the song a video plays, and what it changes."""
    change = _UNCHANGED if pair.verdict == "confirmed" else _change(pair)
    if pair.overlap_s is None:
        return Message(
            f"This video plays the song, {change.en}.", f"作品使用了这首歌，{change.zh}。"
        )

    # Ten seconds and more are told in whole ones. A local match is judged by a window: the video
    # may play more of the song than that.
    is_short = pair.overlap_s < _BELOW_WHOLE_SECONDS
    seconds = f"{round(pair.overlap_s, 1):g}" if is_short else f"{pair.overlap_s:.0f}"
    kind = None if pair.verdict == "confirmed" else variant_kind(pair)
    is_least = pair.segment == "local" and kind != "excerpt"
    part = Message(
        f"{'At least ' if is_least else ''}{seconds} s of the song play in this video",
        f"作品中{'至少' if is_least else ''}有 {seconds} 秒播放的是这首歌",
    )
    again = Message("", "")
    if kind == "excerpt":
        again = Message(", too few to count as confirmed", "，时长过短，不计入已确认")
        if pair.reason == "looped_excerpt_variant":
            again = Message(", again and again", "，循环播放")
    return Message(f"{part.en}, {change.en}{again.en}.", f"{part.zh}，{change.zh}{again.zh}。")


def _change(pair: PairEvidence) -> Message:
    """Say what a variant changes: `sped up to 1.25 ×, with a higher pitch`."""
    kind = variant_kind(pair)
    if kind == "excerpt":
        return _UNCHANGED
    if pair.speed is None:
        return Message("changed", "有改动")
    is_faster, speed = pair.speed > 1, f"{round(pair.speed, 2):g}"
    tempo = Message(
        f"{'sped up' if is_faster else 'slowed down'} to {speed} ×",
        f"{'加速' if is_faster else '减速'}至 {speed} 倍",
    )
    if kind == "speed":
        return Message(
            f"{tempo.en}, with a {'higher' if is_faster else 'lower'} pitch",
            f"{tempo.zh}，音调随之{'升高' if is_faster else '降低'}",
        )
    if kind == "tempo":
        return Message(f"{tempo.en}, at the original pitch", f"{tempo.zh}，音调不变")
    semitones = pair.semitones or 0.0
    is_higher, steps = semitones > 0, f"{round(abs(semitones), 1):g}"
    noun = "semitone" if steps == "1" else "semitones"
    pitch = Message(
        f"{steps} {noun} {'higher' if is_higher else 'lower'}",
        f"{'升高' if is_higher else '降低'} {steps} 个半音",
    )
    if kind == "pitch":
        return Message(f"{_UNCHANGED.en}, {pitch.en}", f"速度不变，{pitch.zh}")
    return Message(f"{tempo.en} and {pitch.en}", f"{tempo.zh}，{pitch.zh}")


def _unknown(reason: str) -> Message:
    """Say that nothing is known of a pair, and which sound was the cause."""
    role, _, cause = reason.partition("_")
    what = Message("Whether this video plays the song is unknown", "无法判断作品是否使用这首歌")
    if role in _SOUNDS and cause in STOPS:
        sound, stop = _SOUNDS[role], STOPS[cause]
        return Message(f"{what.en}. {sound.en}: {stop.en}.", f"{what.zh}。{sound.zh}：{stop.zh}。")
    why = reason_message(reason)
    return Message(f"{what.en}: {why.en}.", f"{what.zh}：{why.zh}。")
