"""The leaderboard: its levels, the sound of its queries, its scorer and its tables."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.accuracy.chromaprint import best_window, similarity
from benchmarks.accuracy.real.library import listed_files
from benchmarks.leaderboard.levels import (
    LEVELS,
    Piece,
    PlacedPiece,
    Query,
    draw_all,
    draw_queries,
)
from benchmarks.leaderboard.making import join, piece_sound
from benchmarks.leaderboard.recordings import vary
from benchmarks.leaderboard.scoring import Detection, measure
from benchmarks.leaderboard.section import FILES, method, sections, texts_of
from sandbox.world.sound.instruments import RATE, Samples

EASY, MEDIUM, HARD = LEVELS
DURATIONS = {f"song {number}": 60.0 for number in range(9)}
PIECE = Piece(
    recording="song 1", start_s=10.0, length_s=8.0, edit="unedited", value=0.0, noise="no noise",
    snr_db=10,
)  # fmt: skip


@given(st.integers(0, 10_000), st.lists(st.floats(10, 400), min_size=3, max_size=6))
def test_pieces_lie_within_their_recordings_and_leave_the_ends_out(
    seed: int, lengths: list[float]
) -> None:
    durations = {str(number): length for number, length in enumerate(lengths)}
    for query in draw_queries(HARD, durations, 12, np.random.default_rng(seed)):
        for piece in (placed.piece for placed in query.pieces):
            duration_s = durations[piece.recording]
            assert piece.start_s >= 2
            assert piece.start_s + piece.length_s <= duration_s - 2 + 1e-9
            assert 4.5 <= piece.length_s <= 30.5


def test_a_level_has_the_edits_noise_and_joints_that_the_toolkit_states() -> None:
    drawn = {level.name: _pieces(level.name) for level in LEVELS}
    edits = {name: {placed.piece.edit for placed in pieces} for name, pieces in drawn.items()}
    assert edits["easy"] == {"unedited", "high-pass", "low-pass", "pitch", "tempo", "speed"}
    assert edits["medium"] == edits["easy"] | {"echo"}
    assert edits["hard"] == edits["medium"] | {"reverb"}
    loudest = {
        name: min(piece.snr_db for piece in (placed.piece for placed in pieces))
        for name, pieces in drawn.items()
    }
    assert loudest == {"easy": 10, "medium": 5, "hard": 0}
    joints = {name: {placed.joint for placed in pieces} for name, pieces in drawn.items()}
    assert joints["easy"] == {"end to end"}
    assert joints["medium"] == joints["hard"] == {"end to end", "crossfade", "overlap"}


def _pieces(level: str) -> list[PlacedPiece]:
    queries = draw_all(DURATIONS, DURATIONS, 600)
    return [placed for query in queries if query.level == level for placed in query.pieces]


def test_changes_of_tempo_grow_with_the_level() -> None:
    spreads = []
    for level in LEVELS:
        pieces = [placed.piece for placed in _pieces(level.name)]
        changes = [np.log(piece.value) for piece in pieces if piece.edit in {"tempo", "speed"}]
        spreads.append(float(np.std(changes)))
    assert spreads == pytest.approx([0.04, 0.115, 0.225], rel=0.25)


def test_a_medley_joins_the_clips_before_it_each_of_another_recording() -> None:
    clips: list[Piece] = []
    for query in draw_queries(MEDIUM, DURATIONS, 60, np.random.default_rng(1)):
        if query.form == "clip":
            clips.append(query.pieces[0].piece)
            continue
        assert [placed.piece for placed in query.pieces] == clips
        assert len(query.recordings) == len(clips) >= 3
        clips.clear()


def test_recordings_of_different_genres_are_used_first() -> None:
    sample = listed_files("music")[0]
    genres = ["rock", "rock", "folk", "rock", "jazz"]
    varied = vary(
        replace(sample, path=str(number), genre=genre) for number, genre in enumerate(genres)
    )
    assert [(file.genre, file.path) for file in varied] == [
        ("folk", "2"), ("jazz", "4"), ("rock", "0"), ("rock", "1"), ("rock", "3"),
    ]  # fmt: skip


def test_without_recordings_there_are_no_queries() -> None:
    assert {query.is_negative for query in draw_all(DURATIONS, {}, 6)} == {False}


def test_the_same_recordings_give_the_same_queries() -> None:
    assert draw_all(DURATIONS, DURATIONS, 30) == draw_all(DURATIONS, DURATIONS, 30)


def test_a_time_of_a_query_is_traced_to_the_recording_through_its_tempo() -> None:
    placed = PlacedPiece(piece=replace(PIECE, edit="tempo", value=1.25), query_s=4.0)
    assert placed.reference_at(4.0) == 10.0
    assert placed.reference_at(4.0 + placed.piece.heard_s) == pytest.approx(18.0)


def _tone(_: str) -> Samples:
    return np.sin(np.arange(60 * RATE) / 20, dtype=np.float32)


def test_noise_has_the_level_that_is_stated() -> None:
    noisy = piece_sound(replace(PIECE, noise="continuous noise"), _tone)
    noise = noisy - piece_sound(PIECE, _tone)
    assert 20 * np.log10(_level(piece_sound(PIECE, _tone)) / _level(noise)) == pytest.approx(10)


def test_pulsating_noise_is_silent_every_other_second() -> None:
    noise = piece_sound(replace(PIECE, noise="pulsating noise"), _tone) - piece_sound(PIECE, _tone)
    seconds = np.split(noise, 8)
    assert all(_level(second) > 0.01 for second in seconds[::2])
    assert all(_level(second) < 1e-6 for second in seconds[1::2])


def test_a_crowd_is_as_long_as_the_piece() -> None:
    long = replace(PIECE, start_s=6.0, length_s=48.0, noise="crowd", snr_db=0)
    noise = piece_sound(long, _tone) - piece_sound(replace(long, noise="no noise"), _tone)
    assert _level(noise[-RATE:]) > 0.01


def _level(samples: Samples) -> float:
    return float(np.sqrt(np.mean(np.square(samples))))


def test_a_silent_piece_stays_silent() -> None:
    silent = piece_sound(PIECE, lambda _: np.zeros(60 * RATE, dtype=np.float32))
    assert not silent.any()


def test_pieces_are_mixed_where_they_overlap_and_a_crossfade_keeps_the_level() -> None:
    sound = np.ones(8 * RATE, dtype=np.float32)
    first, second = PlacedPiece(piece=PIECE), PlacedPiece(piece=PIECE, query_s=6.0)
    assert join([sound, sound], [first, second]).max() == 2.0
    faded = join([sound, sound], [first, replace(second, joint="crossfade")])
    assert faded.size == 14 * RATE
    assert faded == pytest.approx(1.0, abs=1e-4)


def _query(name: str, *recordings: str, is_negative: bool = False) -> Query:
    pieces = tuple(
        PlacedPiece(piece=replace(PIECE, recording=recording), query_s=8.0 * place)
        for place, recording in enumerate(recordings)
    )
    return Query(name=name, level="easy", form="clip", pieces=pieces, is_negative=is_negative)


def _detection(
    reference: str, *, score: float = 1.0, error_s: float = 0.0, is_accepted: bool | None = True
) -> Detection:
    return Detection(
        reference=reference, score=score, is_accepted=is_accepted, query_s=1.0,
        reference_s=11.0 + error_s, length_s=6.0,
    )  # fmt: skip


def _figures(*reports: tuple[Query, Sequence[Detection]]) -> dict[str, float | None]:
    detections = {query.name: reported for query, reported in reports}
    (row,) = measure([query for query, _ in reports], detections)
    shares = {name: value for name, value in row.items() if isinstance(value, dict)}
    del shares["edits"]
    return {
        name: share["hits"] / share["total"] if share["total"] else None
        for name, share in shares.items()
    } | {name: row[name] for name in ("covered", "median_error_s")}


def test_a_tool_that_finds_all_at_their_places_has_all_marks() -> None:
    figures = _figures(
        (_query("one", "a"), [_detection("a")]), (_query("two", "x", is_negative=True), [])
    )
    assert figures["recall"] == figures["precision"] == figures["first"] == figures["placed"] == 1
    assert figures["negatives"] == figures["median_error_s"] == 0
    assert figures["covered"] == 6 / 8


def test_a_wrong_detection_costs_precision_and_the_first_place_if_it_is_surest() -> None:
    figures = _figures((_query("one", "a"), [_detection("b", score=2.0), _detection("a")]))
    assert (figures["recall"], figures["precision"], figures["first"]) == (1, 0.5, 0)


def test_a_detection_at_another_place_is_found_but_not_placed() -> None:
    figures = _figures((_query("one", "a"), [_detection("a", error_s=1.5)]))
    assert (figures["recall"], figures["placed"], figures["covered"]) == (1, 0, 0)
    assert figures["median_error_s"] == 1.5


def test_whatever_is_detected_in_a_negative_query_is_wrong() -> None:
    figures = _figures((_query("one", "a", is_negative=True), [_detection("a")]))
    assert figures["negatives"] == 1
    assert figures["recall"] is None


def test_what_a_tool_rejects_counts_at_its_best_threshold_alone() -> None:
    figures = _figures((_query("one", "a"), [_detection("a", is_accepted=False)]))
    assert (figures["recall"], figures["recall_at_precision"]) == (0, 1)


def test_a_tool_without_a_verdict_gets_its_best_threshold() -> None:
    right = (_query("one", "a"), [_detection("a", score=0.8, is_accepted=None)])
    wrong = (
        _query("two", "x", is_negative=True), [_detection("a", score=0.7, is_accepted=None)],
    )  # fmt: skip
    figures = _figures(right, wrong)
    assert (figures["recall"], figures["precision"], figures["negatives"]) == (1, 1, 0)


def test_each_piece_of_a_medley_counts() -> None:
    figures = _figures((_query("one", "a", "b", "c", "d"), [_detection("a"), _detection("c")]))
    assert (figures["recall"], figures["precision"]) == (0.5, 1)


def test_the_most_similar_stretch_of_two_fingerprints_has_a_place() -> None:
    rng = np.random.default_rng(1)
    left, right = (rng.integers(0, 2**32, 200, dtype=np.uint32) for _ in range(2))
    right[20:80] = left[100:160]
    window = best_window(left, right)
    assert similarity(left, right) == window.similarity == 1.0
    assert window.left - window.right == 80
    assert 20 <= window.right <= 80 - window.items


def test_tables_name_every_tool_with_its_command_and_those_left_out() -> None:
    query = _query("one", "a")
    document = {
        "counts": {"references": 9, "queried": 7, "negatives": 5, "clips": "about 30"},
        "tools": {
            name: {
                "name": name, "version": "1", "how": "so", "command": f"run {name}",
                "rows": measure([query], {"one": [_detection(reference)]}),
            }
            for name, reference in (("good", "a"), ("bad", "b"))
        },
        "left_out": {"Olaf": "no package"},
    }  # fmt: skip
    tables = {title: rows for title, _, rows in sections(document)}
    assert [row[:3] for row in tables[FILES]] == [
        ("easy clips", "good", "1.00 [0.21, 1.00] of 1"),
        ("easy clips", "bad", "0.00 [0.00, 0.79] of 1"),
    ]
    assert tables["Leaderboard: the tools"] == [
        ("good", "1", "so", "`run good`"),
        ("bad", "1", "so", "`run bad`"),
        ("Olaf", "not measured", "no package", ""),
    ]
    assert "same 9 references" in method(document)


def test_the_leaderboard_of_a_card_is_found_again_beside_what_is_measured_anew() -> None:
    board = f"## {FILES}\n\nwords\n\n| queries |\n| --- |\n| easy clips |"
    assert texts_of(f"# Card\n\n## Goals\n\n| what |\n\n{board}\n\n## Cost\n\nms\n") == {
        FILES: board
    }
    assert texts_of("# Card\n\n## Goals\n") == {}
