"""A verdict is a sentence that needs no knowledge of the measurement, in both languages."""

import re
from dataclasses import replace
from typing import Any, get_args

import pytest

from pipelines.documents.verdicts import likely_kind, verdict_sentence
from warehouse.records.evidence import PairEvidence, RejectionLabel, SharedPart

CONFIRMED = PairEvidence(
    verdict="confirmed", reason="whole_rule_met", segment="whole", overlap_s=21.7, speed=1.0,
    semitones=0.0,
)  # fmt: skip
REJECTED = PairEvidence(verdict="rejected", reason="distances_above_limits")
OBJECTIONS = (
    "distances_above_limits", "score_below_threshold", "tempo_drifts", "common_part_too_short",
    "tones_differ", "opening_sound", "closing_sound",
)  # fmt: skip
JARGON = re.compile("distance|threshold|limit|overlap|score|chroma|MFCC|candidate|阈值|距离|得分")


@pytest.mark.parametrize(
    ("changed", "english", "chinese"),
    [
        ({}, "22 s of the song play in this video, at original speed.",
         "作品中有 22 秒播放的是这首歌，原速原调。"),
        ({"segment": "local", "overlap_s": 5.99},
         "At least 6 s of the song play in this video, at original speed.",
         "作品中至少有 6 秒播放的是这首歌，原速原调。"),
        ({"overlap_s": None}, "This video plays the song, at original speed.",
         "作品使用了这首歌，原速原调。"),
        ({"verdict": "variant", "speed": 1.25, "semitones": 3.863},
         "22 s of the song play in this video, sped up to 1.25 ×, with a higher pitch.",
         "作品中有 22 秒播放的是这首歌，加速至 1.25 倍，音调随之升高。"),
        ({"verdict": "variant", "speed": 0.8, "semitones": None},
         "22 s of the song play in this video, slowed down to 0.8 ×, with a lower pitch.",
         "作品中有 22 秒播放的是这首歌，减速至 0.8 倍，音调随之降低。"),
        ({"verdict": "variant", "speed": 0.9, "semitones": 0.0},
         "22 s of the song play in this video, slowed down to 0.9 ×, at the original pitch.",
         "作品中有 22 秒播放的是这首歌，减速至 0.9 倍，音调不变。"),
        ({"verdict": "variant", "speed": 1.0, "semitones": 1.0},
         "22 s of the song play in this video, at original speed, 1 semitone higher.",
         "作品中有 22 秒播放的是这首歌，速度不变，升高 1 个半音。"),
        ({"verdict": "variant", "speed": 1.1, "semitones": -2.04},
         "22 s of the song play in this video, sped up to 1.1 × and 2 semitones lower.",
         "作品中有 22 秒播放的是这首歌，加速至 1.1 倍，降低 2 个半音。"),
        ({"verdict": "variant", "segment": "local", "overlap_s": 3.44, "reason": "excerpt_variant"},
         "3.4 s of the song play in this video, at original speed, too few to count as confirmed.",
         "作品中有 3.4 秒播放的是这首歌，原速原调，时长过短，不计入已确认。"),
        ({"verdict": "variant", "overlap_s": 3.0, "reason": "looped_excerpt_variant"},
         "3 s of the song play in this video, at original speed, again and again.",
         "作品中有 3 秒播放的是这首歌，原速原调，循环播放。"),
        ({"verdict": "variant", "speed": None, "semitones": None},
         "22 s of the song play in this video, changed.", "作品中有 22 秒播放的是这首歌，有改动。"),
    ],
)  # fmt: skip
def test_a_match_says_how_much_of_the_song_plays_and_what_is_changed(
    changed: dict[str, Any], english: str, chinese: str
) -> None:
    sentence = verdict_sentence(replace(CONFIRMED, **changed))
    assert (sentence.en, sentence.zh) == (english, chinese)


def test_each_objection_and_each_label_of_a_rejection_has_a_plain_sentence_of_its_own() -> None:
    pairs = [replace(REJECTED, reason=reason) for reason in OBJECTIONS]
    pairs += [replace(REJECTED, observation=label) for label in get_args(RejectionLabel)]
    sentences = [verdict_sentence(pair) for pair in pairs]
    assert len({sentence.en for sentence in sentences}) == len(pairs)
    assert len({sentence.zh for sentence in sentences}) == len(pairs)
    for sentence in sentences:
        assert JARGON.findall(sentence.en + sentence.zh) == []
        assert (sentence.en[-1], sentence.zh[-1]) == (".", "。")


def test_each_shared_part_has_a_plain_sentence_and_goes_before_every_other_explanation() -> None:
    for part in get_args(SharedPart):
        pair = replace(
            REJECTED, shared_part=part, version_score=0.9, observation="uncertain"
        )  # a part of the song alone can make harmonies agree
        sentence, kind = verdict_sentence(pair), likely_kind(pair)
        assert pair.relation == "shares_part"
        assert sentence.en.startswith("Only ")
        assert re.search("仅|只有", sentence.zh)
        assert kind is not None
        assert kind.en.startswith("shares only ")
        assert JARGON.findall(sentence.en + sentence.zh + kind.en + kind.zh) == []


def test_another_performance_is_told_as_a_version() -> None:
    pair = replace(REJECTED, version_score=0.5, observation="uncertain")
    kind = likely_kind(pair)
    assert "another version of the song" in verdict_sentence(pair).en
    assert "另一版本" in verdict_sentence(pair).zh
    assert kind is not None
    assert (kind.en, kind.zh) == ("likely another version", "可能是另一版本")
    unlike = replace(pair, version_score=0.49)
    assert "version" not in verdict_sentence(unlike).en
    assert likely_kind(replace(unlike, observation=None)) is None


@pytest.mark.parametrize(
    ("changed", "relation"),
    [
        ({"verdict": "confirmed"}, "same_recording"),
        ({"verdict": "variant"}, "variant"),
        ({"verdict": "rejected"}, None),
        ({"verdict": "rejected", "version_score": 0.5}, "version"),
        ({"verdict": "rejected", "version_score": 0.49}, None),
        ({"verdict": "rejected", "version_score": 0.9, "shared_part": "layer"}, "shares_part"),
        ({"verdict": "confirmed", "version_score": 0.9}, "same_recording"),
        ({"verdict": "not_comparable"}, None),
    ],
)
def test_the_relation_of_two_sounds_follows_from_verdict_shared_part_and_version_score(
    changed: dict[str, Any], relation: str | None
) -> None:
    assert replace(REJECTED, **changed).relation == relation


def test_a_rejection_of_another_release_is_told_with_its_reason() -> None:
    assert verdict_sentence(replace(REJECTED, reason="of_another_release")).en == (
        "This video is no match: of another release."
    )


@pytest.mark.parametrize(
    ("reason", "english"),
    [
        ("candidate_silent", "Sound of the video: the sound is silent."),
        ("reference_too_short", "Sound of the song: the sound is shorter than 2 s."),
        ("candidate_altered_by_host", "Sound of the video: the media host altered the file"),
        ("overlap_too_short", "unknown: too little sound in common to compare."),
        ("silent_placeholder", "unknown: the video has no sound."),
    ],
)
def test_what_could_not_be_compared_is_unknown_and_says_which_sound_was_the_cause(
    reason: str, english: str
) -> None:
    sentence = verdict_sentence(PairEvidence(verdict="not_comparable", reason=reason))
    assert sentence.en.startswith("Whether this video plays the song is unknown")
    assert english in sentence.en
    assert sentence.zh.startswith("无法判断作品是否使用这首歌")
    assert not re.search("[A-Za-z]{2,}", sentence.zh)
