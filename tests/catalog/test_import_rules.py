"""What the lines of an import become: every one is a track, a duplicate or a named problem."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.catalog.rules import ImportLine, ImportOutcome, plan_import, updated_track
from warehouse.records.catalogs import MAX_TRACKS, ImportedTrack
from warehouse.records.errors import InvalidMusicInputError


def identify(text: str) -> str:
    """Ids of five digits are tracks; the same digits after `x` are the same track."""
    digits = text.removeprefix("x")
    if len(digits) == 5 and digits.isascii() and digits.isdigit():
        return f"music:{digits}"
    raise InvalidMusicInputError(f"{text!r} is no track")


def line(number: int, track: str, **columns: str) -> ImportLine:
    return ImportLine(number=number, values={"track": track, **columns})


def planned(*lines: ImportLine) -> ImportOutcome:
    return plan_import(lines, identify=identify)


def test_a_line_becomes_a_track_with_its_label_its_priority_and_all_its_columns() -> None:
    values = {"Title": "Paper Boats", "Artist": "Someone", "Priority": "7", "Label code": "LC 1"}
    found = planned(ImportLine(number=4, values={"Music ID": "12345", **values}))
    (track,) = found.tracks
    assert (track.key, track.input, track.priority) == ("music:12345", "12345", 7)
    assert track.label == "Paper Boats - Someone"
    assert track.columns == {"Music ID": "12345", **values}
    assert found.lines == (4,)


def test_the_first_filled_column_names_the_track() -> None:
    values = {"music_id": " ", "link": "x12345"}
    assert planned(ImportLine(number=1, values=values)).tracks[0].input == "x12345"


def test_lines_of_one_track_are_merged_and_named() -> None:
    found = planned(
        line(2, "12345", note="", owner="a", priority="1"),
        line(3, "x12345", note="later", owner="b", priority="5", title="Paper Boats"),
    )
    (track,) = found.tracks
    assert (track.input, track.priority, track.label) == ("12345", 5, "Paper Boats")
    assert (track.columns["note"], track.columns["owner"]) == ("later", "a")
    (duplicate,) = found.duplicates
    assert (duplicate.line, duplicate.first_line, duplicate.input) == (3, 2, "x12345")


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"track": "somewhere"}, "not_a_track"),
        ({"track": "7.34876E+18"}, "rounded_number"),
        ({"track": "7,34876E+18"}, "rounded_number"),
        ({"track": "12345", "priority": "high"}, "bad_priority"),
        ({"track": "12345", "priority": "1001"}, "bad_priority"),
        ({"title": "Paper Boats"}, "no_track"),
    ],
)
def test_a_line_that_is_no_track_is_named_with_its_reason(
    values: dict[str, str], reason: str
) -> None:
    found = planned(ImportLine(number=9, values=values))
    assert found.tracks == ()
    assert [(one.line, one.reason) for one in found.problems] == [(9, reason)]


def test_a_priority_may_be_written_as_spreadsheets_write_numbers() -> None:
    assert planned(line(1, "12345", priority="-3.0")).tracks[0].priority == -3


@pytest.mark.parametrize(("stated", "kept"), [(("-5", ""), -5), (("", "-5"), -5), (("1", "7"), 7)])
def test_the_highest_stated_priority_of_duplicates_counts(
    stated: tuple[str, str], kept: int
) -> None:
    first, later = stated
    found = planned(line(1, "12345", priority=first), line(2, "x12345", priority=later))
    assert found.tracks[0].priority == kept


def test_a_catalogue_takes_no_more_than_its_limit_and_names_the_rest() -> None:
    numbers = range(20_000, 20_000 + MAX_TRACKS - 1)
    known = [ImportedTrack(key=f"music:{number}", input=str(number)) for number in numbers]
    lines = [line(1, "20000"), line(2, "12345"), line(3, "12346"), line(4, "x12345")]
    found = plan_import(lines, identify=identify, known=known)
    assert [track.key for track in found.tracks] == ["music:20000", "music:12345"]
    assert [one.line for one in found.duplicates] == [4]
    assert [(one.line, one.reason) for one in found.problems] == [(3, "too_many_tracks")]


TRACKS = st.sampled_from(["12345", "x12345", "12346", "12347", "7.3E+18", "no track", "", "  "])
PRIORITIES = st.sampled_from(["", "1", "-1", "12", "none"])
LINES = st.lists(
    st.fixed_dictionaries({"track": TRACKS, "priority": PRIORITIES, "note": st.text(max_size=3)})
)


@given(LINES)
def test_no_line_is_lost_and_none_counts_twice(rows: list[dict[str, str]]) -> None:
    lines = [ImportLine(number=number, values=row) for number, row in enumerate(rows, 1)]
    found = planned(*lines)
    named = [
        *found.lines,
        *(one.line for one in found.duplicates),
        *(one.line for one in found.problems),
    ]
    filled = [
        number for number, row in enumerate(rows, 1) if any(cell.strip() for cell in row.values())
    ]
    assert sorted(named) == filled
    assert len({track.key for track in found.tracks}) == len(found.tracks)


@given(LINES)
def test_importing_the_tracks_again_finds_the_same_tracks(rows: list[dict[str, str]]) -> None:
    lines = [ImportLine(number=number, values=row) for number, row in enumerate(rows, 1)]
    first = planned(*lines)
    again = plan_import(lines, identify=identify, known=first.tracks)
    assert again == first


def test_an_import_changes_what_it_states_and_leaves_the_rest_as_it_was() -> None:
    known = planned(line(1, "12345", title="Paper Boats", priority="7", owner="a", note="old"))
    before = known.tracks[0]
    new = planned(line(1, "x12345", note="new")).tracks[0]
    track = updated_track(before, new)
    assert (track.input, track.label, track.priority) == ("x12345", "Paper Boats", 7)
    assert (track.columns["owner"], track.columns["note"]) == ("a", "new")
    lower = planned(line(1, "12345", priority="0")).tracks[0]
    assert updated_track(before, lower).priority == 0
