"""The same features give the same numbers for good, and the same samples the same features."""

import json
from typing import Any

import numpy as np
import pytest

from pipelines.audio.features import FEATURE_VERSION, Features
from pipelines.audio.sounds import unpack_features
from pipelines.domain.evidence import JUDGING_REVISION
from tests.bench.accuracy.versions import differences, largest_difference
from tests.data.audio.build_golden import FOLDER, judge_golden, measure_golden

STORED: dict[str, Any] = json.loads((FOLDER / "evidence.json").read_text())
NAMES = ("song", "voiced", "fast", "cover")


@pytest.fixture(scope="module")
def stored() -> dict[str, Features]:
    return {name: unpack_features((FOLDER / f"{name}.features").read_bytes()) for name in NAMES}


@pytest.fixture(scope="module")
def measured() -> dict[str, Features]:
    return measure_golden()


def test_stored_features_give_the_stored_verdicts_and_numbers(stored: dict[str, Features]) -> None:
    again = judge_golden(stored)
    assert list(differences(STORED["pairs"], again)) == []
    assert largest_difference(STORED["pairs"], again) <= 1e-6


def test_the_stored_verdicts_are_the_right_ones() -> None:
    verdicts = {name: pair["verdict"] for name, pair in STORED["pairs"].items()}
    assert verdicts == {
        "song / song": "confirmed", "song / voiced": "confirmed", "song / fast": "variant",
        "song / cover": "rejected",
    }  # fmt: skip


def test_other_numbers_need_another_version() -> None:
    assert STORED["feature_version"] == FEATURE_VERSION
    assert STORED["judging_revision"] == JUDGING_REVISION


@pytest.mark.parametrize("name", NAMES)
def test_the_same_samples_give_the_stored_features(
    stored: dict[str, Features], measured: dict[str, Features], name: str
) -> None:
    first, second = stored[name], measured[name]
    np.testing.assert_allclose(second.chroma, first.chroma, rtol=2e-3, atol=2e-3)
    np.testing.assert_allclose(second.mel_db, first.mel_db, rtol=2e-3, atol=2e-3)
    assert np.mean(np.isin(second.peaks.frames, first.peaks.frames)) > 0.99


def test_one_number_or_word_that_differs_is_told() -> None:
    one = {"a / b": {"score": 0.5, "verdict": "rejected"}}
    assert list(differences(one, {"a / b": {"score": 0.5 + 1e-7, "verdict": "rejected"}})) == []
    assert len(list(differences(one, {"a / b": {"score": 0.51, "verdict": "variant"}}))) == 2
    assert list(differences(one, {})) == ["a / b: only one of both judged it"]
