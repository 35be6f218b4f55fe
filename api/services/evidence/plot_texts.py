"""English and Chinese texts of the evidence plot."""

from collections.abc import Mapping
from typing import Literal

from pipelines.audio.explanation import EvidenceMeasure
from pipelines.documents.messages import Message, observation_message
from pipelines.documents.verdict_reasons import reason_message
from warehouse.records.evidence import PairEvidence

type PlotLanguage = Literal["en", "zh"]

_TEXTS: Mapping[str, Message] = {
    "at_least": Message("at least {limit:g}", "不低于 {limit:g}"),
    "at_most": Message("at most {limit:g}", "不高于 {limit:g}"),
    "candidate": Message("candidate", "候选"),
    "candidate_chroma": Message(
        "Chroma of the candidate, shifted to the best alignment", "候选的色度，已移至最佳对齐位置"
    ),
    "chroma_distance": Message("Chroma distance", "色度距离"),
    "confirmed": Message("confirmed", "已确认"),
    "identical": Message("2 identical", "2 相同"),
    "legend": Message(
        "Similarity of each second of the candidate (upwards, in\n"
        "seconds, speed compensated) to each second of the reference.\n"
        "\n"
        "Bright diagonal: the same music plays in both sounds.\n"
        "Parallel diagonals: repetition. Single spots: chance.\n"
        "\n"
        "Orange frame: the compared segment.",
        "候选的每一秒（向上，单位秒，已还原速度）\n"
        "与参考的每一秒之间的相似度。\n"
        "\n"
        "明亮的对角线：两段声音中是同一音乐。\n"
        "平行的对角线：重复段落。零散的亮点：偶然相似。\n"
        "\n"
        "橙色框：比对的片段。",
    ),
    "local": Message("decided on the local segment", "依据局部片段判定"),
    "mfcc_distance": Message("MFCC distance", "MFCC 距离"),
    "name": Message("video {video}, music {music}", "作品 {video}，音乐 ID {music}"),
    "no_limit": Message("no limit", "无阈值"),
    "not_comparable": Message("not comparable", "无法比对"),
    "not_measured": Message("not measured", "未测量"),
    "overlap_s": Message("Compared", "比对时长"),
    "peak_agreement": Message("Peak agreement", "峰值一致度"),
    "rejected": Message("rejected", "未通过"),
    "reference": Message("reference", "参考"),
    "reference_chroma": Message("Chroma of the reference", "参考的色度"),
    "reference_seconds": Message("reference, seconds", "参考，秒"),
    "score": Message("Score", "综合得分"),
    "semitones": Message("{steps:+.2f} semitones", "{steps:+.2f} 个半音"),
    "speed": Message(
        "plays at {factor:g}x speed, compensated here", "播放速度为 {factor:g} 倍，图中已还原"
    ),
    "title": Message(
        "{verdict}: {candidate} against {reference}", "{verdict}：{candidate} 与 {reference} 比对"
    ),
    "unrelated": Message("0 unrelated", "0 无关"),
    "variant": Message("variant", "变体"),
    "whole": Message("decided on the whole segment", "依据整段重叠判定"),
}


class PlotTexts:
    """The texts of a plot in one language."""

    def __init__(self, language: PlotLanguage) -> None:
        self._is_chinese = language == "zh"

    def of(self, name: str, **values: object) -> str:
        """Return a text of the plot by its name, with its values filled in."""
        return self._chosen(_TEXTS[name]).format(**values)

    def verdict(self, evidence: PairEvidence) -> str:
        """Return the verdict as a word."""
        return self.of(evidence.verdict)

    def reason(self, evidence: PairEvidence) -> str:
        """Return the reason of the verdict, and what the candidate changes, as one line."""
        parts = [self._chosen(reason_message(evidence.reason))]
        if evidence.observation:
            parts.insert(0, self._chosen(observation_message(evidence.observation)))
        if evidence.segment:
            parts.append(self.of(evidence.segment))
        if evidence.speed not in {None, 1.0}:
            parts.append(self.of("speed", factor=evidence.speed))
        if evidence.semitones:
            parts.append(self.of("semitones", steps=evidence.semitones))
        return ("，" if self._is_chinese else ", ").join(parts)

    def title(self, verdict: str, candidate: str, reference: str) -> str:
        """Return what the plot shows."""
        return self.of("title", verdict=verdict, candidate=candidate, reference=reference)

    def limit(self, measure: EvidenceMeasure) -> str:
        """Return the limit of a measure in words."""
        if measure.limit is None:
            return self.of("no_limit")
        return self.of("at_most" if measure.lower_is_better else "at_least", limit=measure.limit)

    def measure(self, measure: EvidenceMeasure) -> str:
        """Return a measure with its value and its limit, for readers who cannot see the plot."""
        value = self.of("not_measured") if measure.value is None else f"{measure.value:.3f}"
        shown = f"{self.of(measure.name)} {value}"
        if measure.limit is None:
            return shown
        limit = self.limit(measure)
        return f"{shown}（{limit}）" if self._is_chinese else f"{shown} ({limit})"

    def _chosen(self, message: Message) -> str:
        return message.zh if self._is_chinese else message.en
