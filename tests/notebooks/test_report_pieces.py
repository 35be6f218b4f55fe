"""Pieces of reports without a kernel: names and parameters, thresholds, tables, plots."""

import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.reports.build import ReportRequest, build_report, to_report_error
from pipelines.reports.catalogue import find_report, parse_parameters
from pipelines.reports.figures import headlines, plots, subjects, thresholds
from pipelines.reports.figures.display import show_table
from pipelines.reports.figures.plots import ReportPlots
from pipelines.reports.figures.report import NotebookReport, ReportFacts, show_facts
from pipelines.reports.texts import load_texts
from warehouse.exports.export_table import to_table
from warehouse.records.errors import InvalidParameterError, SametrackError

pytestmark = pytest.mark.full

TRACK = "7400000000000000001"
TEXTS = load_texts("en")
PLOTS = ReportPlots(TEXTS)


def to_pair(chroma: float | None, score: float, **given: object) -> dict[str, object]:
    return {
        "verdict": "rejected", "reason": "score_below_threshold", "segment": "local",
        "chroma_distance": chroma, "mfcc_distance": 0.4, "overlap_s": 6.0, "peak_agreement": 0.5,
        "score": score, "speed": 1.0, "semitones": 0.0, "comparison_id": "1",
        "candidate_aweme_id": "a", "candidate_music_id": "m",
    } | given  # fmt: skip


def to_work(aweme_id: str, music_id: str, likes: int | None, link: str | None) -> dict[str, Any]:
    return {
        "aweme_id": aweme_id, "music_id": music_id, "link_type": link, "digg_count": likes,
        "hot_score": likes,
    }  # fmt: skip


def at(table: pa.Table, column: str, value: float) -> dict[str, Any]:
    return next(row for row in table.to_pylist() if row[column] == pytest.approx(value))


@pytest.mark.parametrize(
    ("name", "expected"), [("trakc", "did you mean 'track'"), ("zzz", "no report 'zzz'")]
)
def test_an_unknown_report_names_the_nearest_and_all(name: str, expected: str) -> None:
    with pytest.raises(InvalidParameterError, match=expected) as caught:
        find_report(name)
    assert "quality, track" in (caught.value.hint or "")


def test_invalid_report_request_is_refused_before_a_kernel_starts(workshop: Any) -> None:
    settings = workshop.settings.model_copy(update={"chromium_path": Path("/nowhere/chromium")})
    steps: list[str] = []
    for asked, error in (
        (ReportRequest(report=find_report("quality"), parameters={}, with_pdf=True), "no Chromium"),
        (
            ReportRequest(report=find_report("quality"), parameters={}, as_of="soon"),
            "neither a date",
        ),
    ):
        with pytest.raises(SametrackError, match=error):
            build_report(settings, asked, progress=steps.append)
    assert steps == []


def test_parameters_are_typed_and_unknown_ones_refused() -> None:
    matcher = find_report("matcher")
    assert parse_parameters(matcher, {"top": "5", "music_id": "7"}) == {"top": 5, "music_id": "7"}
    with pytest.raises(InvalidParameterError, match="did you mean 'viral_line'"):
        parse_parameters(matcher, {"viral": "5"})
    with pytest.raises(InvalidParameterError, match="top: 'many' is not a valid int"):
        parse_parameters(matcher, {"top": "many"})
    with pytest.raises(InvalidParameterError, match="no parameter 'home'"):
        parse_parameters(matcher, {"home": "/"})


def test_an_error_that_is_not_ours_names_the_cell() -> None:
    found = to_report_error(find_report("track"), 4, "KeyError", "'x'")
    assert str(found) == "the notebook track failed in cell 4: KeyError: 'x'"
    assert isinstance(
        to_report_error(find_report("track"), 1, "InvalidParameterError", "no"),
        InvalidParameterError,
    )


def test_another_limit_is_applied_to_kept_numbers_and_moves_the_top() -> None:
    pairs = pa.Table.from_pylist(
        [
            to_pair(0.3, 0.9, verdict="confirmed", reason="local_rule_met"),
            to_pair(0.5, 0.4, candidate_music_id="far"),
            to_pair(0.5, 0.9, candidate_music_id="voice", reason="tones_differ"),
            to_pair(None, 0.0, candidate_music_id="deaf", reason="nothing_to_compare"),
        ]
    )
    pool = pa.Table.from_pylist(
        [
            to_work("1", "far", 900, None),
            to_work("2", "m", 500, "audio_fingerprint_match"),
            to_work("3", "own", 100, "exact_music_id"),
        ]
    )
    score = thresholds.judge_score(pairs, pool, top=2)
    assert at(score, "limit", 0.65)["works_confirmed"] == 2
    looser = at(score, "limit", 0.4)
    assert (looser["works_confirmed"], looser["came"], looser["went"]) == (3, 1, 1)
    chroma = thresholds.judge_chroma(pairs, pool, top=2)
    assert at(chroma, "limit", 0.25)["works_confirmed"] == 1
    assert at(chroma, "limit", 0.5)["pairs_within_distances"] == 3
    assert at(chroma, "limit", 0.5)["pairs_confirmed"] == 1


def test_unknown_likes_reach_no_viral_line() -> None:
    pool = pa.Table.from_pylist(
        [
            to_work("1", "m", None, "exact_music_id"),
            to_work("2", "m", 20_000, "exact_music_id"),
            to_work("3", "x", 90_000, None),
        ]
    )
    viral = thresholds.judge_viral(pool, top=5, usual=10_000)
    assert at(viral, "viral_line", 100)["viral_count"] == 1
    assert at(viral, "viral_line", 30_000)["went"] == 1
    assert not thresholds.is_viral(to_work("1", "m", None, "exact_music_id"), 0)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_a_looser_chroma_limit_never_confirms_less(distances: list[float]) -> None:
    pairs = pa.Table.from_pylist(
        [
            to_pair(value, 0.9, verdict="confirmed", candidate_music_id=str(number))
            for number, value in enumerate(distances)
        ]
    )
    pool = pa.Table.from_pylist([to_work("1", "0", 1, "audio_fingerprint_match")])
    counts = [
        row["pairs_confirmed"] for row in thresholds.judge_chroma(pairs, pool, top=1).to_pylist()
    ]
    assert counts == sorted(counts)


def test_a_table_shows_dashes_escapes_and_says_how_many_rows_there_are() -> None:
    found = pa.table({"title": ["<b>", None, "c"], "digg_count": [1234, None, 0]})
    shown = show_table(
        to_table("works", found),
        "Works.",
        texts=TEXTS,
        empty="None.",
        shown=2,
        only=None,
        mark="0" * 12,
    )
    assert "&lt;b&gt;" in shown.html
    assert "<b>" not in shown.html
    assert "1,234" in shown.html
    assert shown.html.count("—") == 2
    assert "3 rows, first 2 shown" in shown.text
    none = show_table(
        to_table("works", found.slice(0, 0)),
        "W",
        texts=TEXTS,
        empty="None.",
        shown=2,
        only=None,
        mark="0",
    )
    assert "None." in none.html


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "—"),
        (True, "yes"),
        (0, "0"),
        (1234567, "1,234,567"),
        (0.65, "0.65"),
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "2026-01-02 03:04"),
        (date(2026, 1, 2), "2026-01-02"),
        (["a", "b"], "a, b"),
    ],
)
def test_a_cell_tells_a_value_as_people_read_it(value: object, expected: str) -> None:
    assert TEXTS.value(value) == expected


def test_an_unknown_value_is_a_gap_in_a_line_and_never_0() -> None:
    table = pa.table(
        {
            "day": [date(2026, 1, 1), date(2026, 1, 2), date(2026, 1, 3)],
            "n": pa.array([5, None, 7], pa.int64()),
            "who": ["a"] * 3,
        }
    )
    chart = PLOTS.lines(table, x="day", y="n", by="who")
    assert chart is not None
    assert [row["y"] for row in json.loads(chart.to_json())["data"]["values"]] == [5, None, 7]


def test_line_plot_of_single_observations_is_none() -> None:
    days = [date(2026, 1, 1), date(2026, 1, 2)]
    table = pa.table({"day": days, "n": [5, 7], "who": ["a", "b"]})
    assert PLOTS.lines(table, x="day", y="n", by="who") is None


def test_of_more_lines_than_colours_the_first_are_drawn_and_that_is_said() -> None:
    rows = [
        {"day": date(2026, 1, day), "n": None if who == "a" else day, "who": who}
        for who in "abcdefgh" for day in (1, 2)
    ]  # fmt: skip
    chart = PLOTS.lines(pa.Table.from_pylist(rows), x="day", y="n", by="who")
    assert chart is not None
    drawn = json.loads(chart.to_json())
    assert {row["part"] for row in drawn["data"]["values"]} == set("bcdefg")
    assert drawn["title"] == "first 6 of 7 drawn"


def test_births_have_names_shapes_and_a_line_back_to_what_they_copy() -> None:
    first, second = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC)
    table = pa.table(
        {
            "title": ["same", "same", "other"],
            "at": pa.array([first, second, None], pa.timestamp("us", tz="UTC")),
            "since": pa.array([None, first, None], pa.timestamp("us", tz="UTC")),
            "id_kind": ["own_id", "library", None],
        }
    )
    drawing = {"label": "title", "at": "at", "since": "since", "by": "id_kind"}
    chart = PLOTS.births(table, **drawing)
    assert chart is not None
    lines, marks = (layer["data"]["values"] for layer in json.loads(chart.to_json())["layer"])
    assert [(row["label"], row["part"]) for row in marks] == [
        ("1. same", "the track's own"),
        ("2. same", "official music"),
    ]
    assert [(row["label"], row["since"]) for row in lines] == [("2. same", first.isoformat())]
    assert PLOTS.births(table.slice(2), **drawing) is None
    nothing = pa.table(table.slice(0, 1).to_pydict() | {"id_kind": pa.array([None], pa.string())})
    unknown = PLOTS.births(nothing, **drawing)
    assert unknown is not None
    assert '"part": "(unknown)"' in unknown.to_json()


def test_marks_that_turn_a_text_are_in_no_cell_no_message_and_no_label() -> None:
    turned = "a\u202eb\u061cc"
    assert TEXTS.value(turned) == "abc"
    shown = PLOTS.bars(pa.table({"name": [turned], "n": [1]}), label="name", value="n")
    assert shown is not None
    assert '"label": "abc"' in shown.to_json()


def test_too_many_points_are_thinned_and_that_is_said() -> None:
    rows = plots.MOST_POINTS * 2 + 1
    table = pa.table({"x": [0.5] * rows, "y": [0.5] * rows, "v": ["rejected"] * rows})
    chart = PLOTS.points(table, x="x", y="y", by="v", lines=())
    assert chart is not None
    assert chart.to_json().count('"part": "rejected"') == 1334
    assert "1 of 3 drawn, of 4,001" in chart.to_json()


def test_an_erased_history_and_an_empty_warehouse_are_said_on_top() -> None:
    facts = ReportFacts(
        world="public", is_demo=False, is_rewritten=True, moment=None, tables=(), algorithms=()
    )
    shown = show_facts("track", {"music_id": "<b>"}, facts, TEXTS)
    rewritten, nothing_yet = facts.banners(TEXTS)
    assert "history_rewritten" in rewritten
    assert "Nothing was committed" in nothing_yet
    assert "<b>" not in shown.html


def test_plot_without_values_is_none() -> None:
    unknown = pa.table({"x": [date(2026, 1, 1)], "y": pa.array([None], pa.int64()), "z": ["a"]})
    assert PLOTS.lines(unknown, x="x", y="y", by="z") is None
    assert PLOTS.bars(unknown, label="z", value="y") is None
    assert PLOTS.columns(unknown, x="x", value="y") is None
    assert PLOTS.stems(unknown, x="x", y="y") is None
    assert PLOTS.spread(unknown, label="z", value="y") is None


def test_growth_counts_a_video_from_its_first_complete_observation() -> None:
    counts = {"comment_count": 1, "collect_count": 1, "share_count": 1}
    seen = [
        {"observed_at": datetime(2026, 10, 1 + day, tzinfo=UTC), "aweme_id": name, "digg_count": n}
        for day, name, n in ((0, "a", 5), (0, "b", 7), (6, "a", 9))
    ]
    grown = subjects.add_up(pa.Table.from_pylist([row | counts for row in seen]), "T").to_pylist()
    assert [row["observed_works"] for row in grown] == [2, 2]
    assert [row["digg_count"] for row in grown] == [12, 16]
    assert [row["gained_likes"] for row in grown] == [0, 4]
    assert [row["followed_works"] for row in grown] == [0, 1]
    assert subjects.add_up(pa.table({"aweme_id": pa.array([], pa.string())}), "T").num_rows == 0


def test_the_likes_of_a_song_have_a_rule_at_its_chart_entry() -> None:
    at = [datetime(2026, 8, 1, tzinfo=UTC), datetime(2026, 10, 1, tzinfo=UTC)]
    curve = pa.table({"observed_at": at, "gained_likes": [0, 4]})
    chart = PLOTS.song_likes(curve, entered=date(2026, 9, 1))
    assert chart is not None
    assert "2026-09-01T00:00:00+00:00" in chart.to_json()
    unknown = pa.table({"observed_at": at, "gained_likes": pa.array([None, None], pa.int64())})
    assert PLOTS.song_likes(unknown, entered=date(2026, 9, 1)) is None


@pytest.mark.parametrize(("first", "last"), [("soon", ""), ("2026-02-01", "2026-01-01")])
def test_a_range_of_days_has_to_be_one(first: str, last: str) -> None:
    with pytest.raises(InvalidParameterError):
        subjects.parse_range(first, last)


def test_an_id_typed_plainly_is_a_number_and_finds_its_track(workshop: Any) -> None:
    with workshop.engine() as engine:
        assert subjects.choose_track(engine, int(TRACK)).id == TRACK
        with pytest.raises(InvalidParameterError, match="needs 2 to 6"):
            subjects.choose_tracks(engine, int(TRACK))


def test_a_comparison_needs_two_tracks_and_names_the_unknown(workshop: Any) -> None:
    with workshop.engine() as engine:
        assert len(subjects.choose_tracks(engine, "")) == 3
        with pytest.raises(InvalidParameterError, match="needs 2 to 6"):
            subjects.choose_tracks(engine, TRACK)
        with pytest.raises(InvalidParameterError, match="no track '12' was seen"):
            subjects.choose_tracks(engine, f"{TRACK},12")


def test_an_empty_warehouse_knows_nobody(workshop: Any) -> None:
    with (
        workshop.engine(as_of=datetime(2020, 1, 1, tzinfo=UTC)) as engine,
        pytest.raises(InvalidParameterError, match="no account was seen"),
    ):
        subjects.choose_account(engine, "")


def test_stems_are_drawn_where_time_and_count_are_known() -> None:
    days = [date(2026, 9, 1), date(2026, 9, 2), None]
    chart = PLOTS.stems(pa.table({"x": days, "y": pa.array([3, None, 5])}), x="x", y="y")
    assert chart is not None
    drawn = chart.to_json()
    assert "2026-09-01" in drawn
    assert '"y": 3' in drawn
    assert '"y": 5' not in drawn


@pytest.mark.parametrize("is_log", [False, True])
def test_several_values_are_drawn_over_a_limit_unless_all_are_zero(is_log: bool) -> None:
    def drawn(came: int) -> plots.Plot:
        return PLOTS.steps(
            pa.table({"limit": [0.1, 0.2], "came": [came, 0], "went": [0, 0]}),
            x="limit", values=("came", "went"), line=0.15,
            titles=("match_threshold", "count"), is_log=is_log,
        )  # fmt: skip

    chart = drawn(2)
    assert chart is not None
    assert ('"type": "log"' in chart.to_json()) == is_log
    assert drawn(0) is None


def test_equal_names_are_told_apart_by_their_numbers() -> None:
    names = ["a" * 60 + "1", "a" * 60 + "2", None]
    chart = PLOTS.spread(pa.table({"z": names, "y": [3, 2, 1]}), label="z", value="y")
    assert chart is not None
    drawn = chart.to_json()
    assert '"1. aaa' in drawn
    assert '"2. aaa' in drawn
    assert '"3. ' not in drawn


def test_rows_of_one_name_are_bars_of_their_own() -> None:
    table = pa.table({"who": ["A", "A", None, None], "n": [5, 4, 3, 2]})
    message = headlines.concentration(table, "n")
    assert message is not None
    assert message.values["count"] == 2
    chart = PLOTS.bars(table, label="who", value="n", headline=message)
    assert chart is not None
    bars = json.loads(chart.to_json())["data"]["values"]
    assert [(bar["label"], bar["value"], bar["is_first"]) for bar in bars] == [
        ("1. A", 5, True),
        ("2. A", 4, True),
        ("3. (unknown)", 3, False),
        ("4. (unknown)", 2, False),
    ]


@pytest.fixture
def piece() -> NotebookReport:
    """A report that reads nothing and writes nothing."""
    nothing: Any = None
    return NotebookReport(
        name="track", engine=nothing, warehouse=nothing, moment=None, tables=None, texts=TEXTS,
        plots=PLOTS,
    )  # fmt: skip


def test_a_range_of_days_is_one_day_where_both_are_equal(piece: NotebookReport) -> None:
    first, last = date(2026, 9, 1), date(2026, 9, 3)
    assert piece.span(first, last, empty="page.no_error_sheet") == "2026-09-01 – 2026-09-03"
    assert piece.span(first, first, empty="page.no_error_sheet") == "2026-09-01"
    nothing = piece.span(None, None, empty="page.no_error_sheet")
    assert nothing == TEXTS.text("page.no_error_sheet")


def test_a_parameter_outside_its_limits_names_them(piece: NotebookReport) -> None:
    assert piece.within("top", 10, 1, 50) == 10
    for value in (0, 51):
        with pytest.raises(InvalidParameterError, match=f"top: {value} is not between 1 and 50"):
            piece.within("top", value, 1, 50)


def test_two_tables_of_one_name_are_a_mistake_of_the_report(piece: NotebookReport) -> None:
    found = pa.table({"n": [1]})
    shown = piece.table("accounts", found)
    assert "sha256" in shown.html
    with pytest.raises(InvalidParameterError, match="two tables named accounts"):
        piece.table("accounts", found)


def test_a_chart_without_anything_to_draw_is_a_sentence(piece: NotebookReport) -> None:
    shown = piece.chart("accounts", None)
    assert TEXTS.text("track.charts.accounts.empty") in shown.html
    assert "<svg" not in shown.html
