"""What is said of librosa beside the matcher follows from the numbers of the pair."""

from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from api.cli.commands.audio.compare import audio_app
from api.services.evidence.cross_check_plot import draw_cross_check
from api.services.evidence.scene import Line, Text
from pipelines.audio.cross_check import CrossCheck, differences, measures
from pipelines.audio.explanation import explain_pair
from pipelines.audio.features.measurement import measure_features
from tests.clips import Band
from warehouse.records.errors import InvalidParameterError
from warehouse.records.evidence import MatchThresholds, PairEvidence

TIMES = np.linspace(0.0, 20.0, 400)
STRAIGHT = CrossCheck(
    reference_chroma=np.ones((12, 430), dtype=np.float32),
    candidate_chroma=np.ones((12, 430), dtype=np.float32),
    reference_s=TIMES + 3.0, candidate_s=TIMES, key_shift=0, tempo=1.0, bend_s=0.02,
    chroma_distance=0.08, mfcc_distance=0.12,
)  # fmt: skip
CONFIRMED = PairEvidence(
    verdict="confirmed", reason="local_rule_met", segment="local", chroma_distance=0.05,
    mfcc_distance=0.1, overlap_s=6.0, reference_start_s=5.0, candidate_start_s=2.0,
    peak_agreement=0.4, score=0.97, speed=1.0, semitones=0.0,
)  # fmt: skip


def said(check: CrossCheck = STRAIGHT, evidence: PairEvidence = CONFIRMED) -> str:
    return " ".join(differences(check, evidence))


def test_equal_alignments_are_the_same_place() -> None:
    assert "5.0 s of the reference with 2.0 s of the candidate" in said()
    assert "the same place" in said()
    assert "they agree" in said()
    assert "one recording, or a performance in exact time" in said()


def test_another_place_is_explained_by_repetition_or_by_having_nothing_in_common() -> None:
    elsewhere = replace(STRAIGHT, candidate_s=TIMES + 8.0)
    assert "8.0 s elsewhere: music that repeats" in said(elsewhere)
    rejected = replace(CONFIRMED, verdict="rejected")
    assert "8.0 s elsewhere: no place fits" in said(elsewhere, rejected)


def test_a_path_that_bends_is_named_as_the_reason_of_likeness() -> None:
    bent = replace(STRAIGHT, bend_s=0.8, tempo=1.1)
    assert "0.80 s in the median: librosa may stretch" in said(bent)
    assert "a path that bends has no one tempo" in said(bent)


@pytest.mark.parametrize(("theirs", "reason"), [(0.4, "the path is longer"), (0.06, "they agree")])
def test_distances_say_why_they_differ(theirs: float, reason: str) -> None:
    assert reason in said(replace(STRAIGHT, chroma_distance=theirs))


def test_a_key_is_compared_without_octaves() -> None:
    pitched = replace(CONFIRMED, verdict="variant", semitones=-3.0)
    assert "both measure a shift of -3 semitones" in said(replace(STRAIGHT, key_shift=9), pitched)
    rows = {name: (ours, theirs) for name, ours, theirs in measures(STRAIGHT, pitched)}
    assert rows["pitch in semitones"] == ("-3.00", "+0, octaves unknown")


def test_a_distance_of_a_shifted_sound_names_the_shift() -> None:
    pitched = replace(CONFIRMED, verdict="variant", semitones=1.65)
    text = said(replace(STRAIGHT, mfcc_distance=0.43), pitched)
    assert "the matcher undoes the shift of +1.65 semitones first" in text


def test_a_pair_without_numbers_claims_none() -> None:
    silent = PairEvidence(verdict="not_comparable", reason="candidate_silent")
    assert "there is no alignment to check" in said(evidence=silent)
    assert "Spectral peaks" not in said(evidence=silent)


def test_without_librosa_the_extra_is_named_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("warehouse.extras.missing_libraries", lambda extra: ["librosa"])
    files = ["--reference", "none.m4a", "--candidate", "none.mp3"]
    ended = CliRunner().invoke(audio_app, ["explain", *files, "--librosa"])
    assert isinstance(ended.exception, InvalidParameterError)
    assert "--librosa needs the extra 'analysis'" in str(ended.exception)


def test_the_picture_shows_both_and_every_sentence(band: Band) -> None:
    features = measure_features(band.track(1), 44_100)
    explanation = explain_pair(features, features, CONFIRMED, limits=MatchThresholds())
    scene = draw_cross_check(explanation, STRAIGHT, ("a.m4a", "b.m4a"))
    texts = " ".join(shape.text for shape in scene.shapes if isinstance(shape, Text))
    assert "a.m4a" in texts
    assert all(sentence[:40] in texts for sentence in differences(STRAIGHT, CONFIRMED))
    assert any(isinstance(shape, Line) for shape in scene.shapes)
    assert max(shape.y for shape in scene.shapes if isinstance(shape, Text)) < scene.height
