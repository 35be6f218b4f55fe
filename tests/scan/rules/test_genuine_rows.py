"""A row of a music list is judged by its own music id, and lists say how many rows are genuine."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.scan.rules.candidate_pool import Sighting, genuine_shares, is_row_of
from warehouse.records.coverage import ListGenuineShare

LIST = "7361234567890123456"
OTHER = "7360000000000000000"


def row(aweme_id: str, music_id: str | None, *, surface: str = "music_list") -> Sighting:
    return Sighting(
        aweme_id=aweme_id, surface=surface, entity_id=LIST, same_music=False, music_id=music_id
    )


def test_rows_are_counted_by_their_own_name_or_their_detail() -> None:
    sightings = [
        row("a", LIST), row("b", OTHER), row("c", None), row("d", None), row("e", None),
        row("a", LIST), row("f", OTHER, surface="user_posts"),
    ]  # fmt: skip
    music_of = {"c": LIST, "d": OTHER, "b": LIST}
    shares = genuine_shares(sightings, music_of=music_of, matched_by_audio={"b", "d", "e", "f"})
    assert shares == [ListGenuineShare(music_id=LIST, rows=4, own_rows=2, audio_rows=2)]


def test_a_list_without_a_known_row_has_no_share() -> None:
    assert genuine_shares([row("a", None)], music_of={}) == []


@pytest.mark.parametrize(
    ("music_id", "surface", "is_own"),
    [
        (LIST, "music_list", True),
        (LIST, "user_posts", True),
        (OTHER, "music_list", False),
        (None, "music_list", True),
        (None, "user_posts", False),
    ],
)
def test_the_rows_own_music_id_decides(music_id: str | None, surface: str, is_own: bool) -> None:
    assert is_row_of(music_id, surface=surface, entity_id=LIST, music_ids={LIST}) is is_own


@given(st.lists(st.tuples(st.text("ab", max_size=2), st.sampled_from([LIST, OTHER, None]))))
def test_own_rows_never_exceed_rows(rows: list[tuple[str, str | None]]) -> None:
    for share in genuine_shares([row(*one) for one in rows], music_of={}):
        assert 0 <= share.own_rows <= share.rows <= len({name for name, _ in rows})
