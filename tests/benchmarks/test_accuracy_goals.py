"""What the accuracy card calls reached, on generated and on real audio."""

from typing import Any

import pytest

from benchmarks.accuracy.card.goals import GOALS, HEAD, Side, goal_rows
from benchmarks.accuracy.card.verdicts import at_least, at_most, never
from benchmarks.accuracy.comparing import Judged, called_others
from benchmarks.accuracy.figures import Share
from benchmarks.accuracy.full_range.edits import EDITS, WOW
from benchmarks.accuracy.full_range.edits import GOALS as RECALL_OF_EDITS
from benchmarks.accuracy.full_range.pairs import STRANGER
from benchmarks.accuracy.full_range.plan import LIVE, PIANOS, SPOKEN_COVER
from benchmarks.accuracy.pairs import COVER_SYNC


def measured(**families: tuple[str, str, int, int]) -> dict[str, Any]:
    """Figures of edited clips: truth, label, accepted and all pairs of each family."""
    summed = {
        family: {"truth": truth, "labels": {label: {"value": None, "hits": hits, "total": total}}}
        for family, (truth, label, hits, total) in families.items()
    }
    return {"families": summed, "confirmed": summed, "named": summed, "versions": summed}


def labelled(**families: tuple[int, int]) -> list[dict[str, Any]]:
    """Families of labelled pairs that differ: pairs called versions, and all of each."""
    return [
        {"family": family, "truth": "different", "versions": versions, "confirmed": 0,
         "accepted": {"hits": 0, "total": total}}
        for family, (versions, total) in families.items()
    ]  # fmt: skip


def unrelated(versions: int, total: int) -> dict[str, Any]:
    """Pairs that have nothing in common, through the full search."""
    return {
        "searched": {
            "accepted": {"hits": 0, "total": total}, "versions": {"hits": versions, "total": total}
        }
    }  # fmt: skip


def row(document: dict[str, Any], what: str) -> tuple[str, ...]:
    return next(row for row in goal_rows(document) if row[0] == what)


@pytest.mark.parametrize(
    ("hits", "total", "word"),
    [(73, 73, "yes"), (72, 72, "n too small"), (94, 100, "no"), (0, 0, "not measured")],
)
def test_a_share_reaches_its_goal_only_with_the_lower_end_of_its_interval(
    hits: int, total: int, word: str
) -> None:
    assert at_least(Share(hits=hits, total=total), 0.95) == word


@pytest.mark.parametrize(
    ("hits", "total", "word"),
    [(1, 64, "yes"), (2, 127, "no"), (2, 128, "yes"), (0, 44, "n too small"), (1, 44, "no")],
)
def test_a_rare_fault_is_excused_only_among_as_many_pairs_as_the_goal_names(
    hits: int, total: int, word: str
) -> None:
    assert at_most(Share(hits=hits, total=total), 1, 64) == word


def test_what_must_never_happen_is_not_proved_without_pairs() -> None:
    assert (never(0, 10), never(1, 10), never(0, 0)) == ("yes", "no", "not measured")


def test_goals_that_were_not_measured_are_not_called_reached() -> None:
    rows = goal_rows({})
    assert len(rows) > len(GOALS)
    assert {len(row) for row in rows} == {len(HEAD)}
    assert {word for row in rows for word in (row[3], row[5])} == {"not measured"}


def test_each_kind_of_audio_has_its_own_figure_and_word() -> None:
    document = {
        "range": measured(**{WOW: ("same", "0.3 %", 16, 16)}),
        "real": {"reported": measured(**{WOW: ("same", "0.3 %", 90, 144)})},
    }
    what, goal, made, is_made, real, is_real = row(document, f"{WOW} 0.3 %")
    assert (goal, is_made, is_real) == ("≥ 0.95", "n too small", "no")
    assert made.endswith("of 16")
    assert real.startswith("0.625 [")
    assert what.startswith(WOW)


def test_figures_of_the_development_part_are_not_on_the_card() -> None:
    document = {"real": {"choosing": measured(**{WOW: ("same", "0.3 %", 90, 90)})}}
    assert row(document, f"{WOW} 0.3 %")[4:] == ("–", "not measured")


def test_confirmed_scores_of_two_pianos_are_counted_against_a_hundred() -> None:
    few = {"range": measured(**{PIANOS: ("different", "", 0, 40)})}
    enough = {"range": measured(**{PIANOS: ("different", "", 1, 100)})}
    what = "same score by two sampled pianos, exact timing: confirmed"
    assert row(few, what)[1:4] == ("0 of 100", "0 of 40", "n too small")
    assert row(enough, what)[2:4] == ("1 of 100", "no")


def test_versions_are_covers_and_live_performances_among_all_pairs_of_other_music() -> None:
    edited = {
        LIVE: ("different", "", 99, 100), STRANGER: ("different", "", 1, 900),
        SPOKEN_COVER: ("different", "", 55, 64),
    }  # fmt: skip
    families = labelled(**{COVER_SYNC: (98, 100), "NEG noise": (1, 100)})
    side = Side({"families": families}, measured(**edited), unrelated(0, 3000))
    judged = {goal.what: goal.judge(side) for goal in GOALS if "version" in goal.what}
    assert judged == {
        "versions found": ("0.985 [0.957, 0.995] of 200", "yes"),
        "versions: precision": ("0.990 [0.964, 0.997] of 199", "n too small"),
        "versions found under speech at 0 dB": ("0.859 [0.754, 0.924] of 64", "n too small"),
        "other music called a version": ("2 of 4,000", "yes"),
    }


def test_real_recordings_only_show_how_often_other_music_is_called_a_version() -> None:
    document = {"real": {"reported": {"unrelated": unrelated(6, 5000)}}}
    assert row(document, "versions: precision")[4:] == ("–", "not measured")
    assert row(document, "other music called a version")[4:] == ("6 of 5,000", "no")


def test_figures_of_before_versions_were_counted_say_nothing_about_them() -> None:
    searched = {"accepted": {"hits": 0, "total": 10}}
    document = {"unrelated": {"searched": searched}, "range": {"families": {}}}
    assert row(document, "other music called a version")[2:4] == ("–", "not measured")


def test_each_edit_has_a_goal() -> None:
    assert {case.family for case in EDITS} == set(RECALL_OF_EDITS)


def test_a_rejected_copy_may_not_be_called_another_recording() -> None:
    judged = [_rejected(observation="shared_voice"), _rejected(reason="tones_differ"),
              _rejected(), _rejected(observation="shared_voice")]  # fmt: skip
    assert called_others([True, True, True, False], judged) == {"hits": 2, "total": 3}


def _rejected(*, observation: str | None = None, reason: str = "low_score") -> Judged:
    return Judged(
        verdict="rejected", score=0.2, reason=reason, speed=None, semitones=None,
        observation=observation, shared_part=None, relation=None, agreement=0.0, chroma=1.0,
        mfcc=1.0, cpu_ms=0.0,
    )  # fmt: skip
