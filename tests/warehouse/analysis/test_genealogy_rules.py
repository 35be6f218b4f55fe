"""Which music id of a recording copies which: properties of the rules behind the view."""

from datetime import UTC, datetime, timedelta
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.warehouse.analysis.genealogy_rules import (
    CopyLink,
    LinkedMusicId,
    find_copies,
    is_contradicted,
    kind_of,
)
from warehouse.records.times import REPORTED_DIFFERENCE_S

START = datetime(2026, 5, 4, 12, tzinfo=UTC)
BIRTHS = st.none() | st.integers(0, 5).map(lambda hours: START + timedelta(hours=hours))
RECORDINGS = st.dictionaries(
    st.sampled_from([str(7_400_000_000_000_000_000 + number) for number in range(8)]),
    st.tuples(BIRTHS, st.sampled_from(["own_id", "audio", "name"])),
).map(
    lambda drawn: [LinkedMusicId(music_id, *facts) for music_id, facts in sorted(drawn.items())]  # type: ignore[arg-type]  # drawn from the literals
)


@given(RECORDINGS)
def test_a_copy_is_younger_than_what_it_copies(linked: list[LinkedMusicId]) -> None:
    births = {one.music_id: one.created_at for one in linked}
    for music_id, link in find_copies(linked, []).items():
        born, older = births[music_id], births[link.copy_of_music_id]
        assert born is not None
        assert older is not None
        assert older < born


@given(RECORDINGS)
def test_an_unknown_birth_neither_copies_nor_is_copied(linked: list[LinkedMusicId]) -> None:
    unknown = {one.music_id for one in linked if one.created_at is None}
    copies = find_copies(linked, [])
    assert unknown.isdisjoint(copies)
    assert unknown.isdisjoint(link.copy_of_music_id for link in copies.values())


@given(RECORDINGS)
def test_the_oldest_ids_copy_nothing_and_every_younger_one_copies(
    linked: list[LinkedMusicId],
) -> None:
    births = [one.created_at for one in linked if one.created_at is not None]
    expected = {
        one.music_id
        for one in linked
        if one.created_at is not None and one.created_at > min(births)
    }
    assert set(find_copies(linked, [])) == expected


@given(RECORDINGS)
def test_copied_music_id_is_the_oldest_one_matched_by_audio(
    linked: list[LinkedMusicId],
) -> None:
    facts = {one.music_id: one for one in linked}
    for music_id, link in find_copies(linked, []).items():
        born, copied = facts[music_id].created_at, facts[link.copy_of_music_id]
        assert born is not None
        older = [one for one in linked if one.created_at is not None and one.created_at < born]
        heard = [one for one in older if one.evidence != "name"]
        assert copied in (heard or older)
        assert copied.created_at == min(one.created_at for one in heard or older if one.created_at)


@given(RECORDINGS, st.randoms(use_true_random=False))
def test_the_order_of_the_ids_does_not_matter(linked: list[LinkedMusicId], order: object) -> None:
    pairs = [(one.music_id, other.music_id) for one, other in combinations(linked, 2)]
    shuffled = list(linked)
    order.shuffle(shuffled)  # type: ignore[attr-defined]  # a Random
    turned = [(other, one) for one, other in pairs]
    assert find_copies(shuffled, turned) == find_copies(linked, pairs)


@given(RECORDINGS)
def test_a_link_says_the_weakest_thing_that_it_rests_on(linked: list[LinkedMusicId]) -> None:
    facts = {one.music_id: one for one in linked}
    pairs = [(one.music_id, other.music_id) for one, other in combinations(linked, 2)]
    for music_id, link in find_copies(linked, pairs).items():
        both = {facts[music_id].evidence, facts[link.copy_of_music_id].evidence}
        assert link.evidence == ("name" if "name" in both else "compared")
    for link in find_copies(linked, []).values():
        assert link.evidence in {"audio", "name"}


def test_of_several_oldest_the_first_id_is_copied() -> None:
    linked = [
        LinkedMusicId("3", START, "audio"),
        LinkedMusicId("2", START, "own_id"),
        LinkedMusicId("1", START - timedelta(days=9), "name"),
        LinkedMusicId("4", START + timedelta(seconds=1), "audio"),
    ]
    assert find_copies(linked, [("4", "2")]) == {
        "2": CopyLink("1", "name"),
        "3": CopyLink("1", "name"),
        "4": CopyLink("2", "compared"),
    }


@pytest.mark.parametrize(
    ("is_own", "is_original_sound", "kind"),
    [
        (True, None, "own_id"),
        (True, True, "own_id"),
        (False, True, "original_sound"),
        (False, False, "library"),
        (False, None, None),
    ],
)
def test_genealogy_kind_of_a_music_id(
    is_own: bool, is_original_sound: bool | None, kind: str | None
) -> None:
    assert kind_of(is_own=is_own, is_original_sound=is_original_sound) == kind


@given(st.integers(-10 * REPORTED_DIFFERENCE_S, 10 * REPORTED_DIFFERENCE_S))
def test_a_birth_over_a_day_after_a_publication_is_contradicted(seconds: int) -> None:
    born = START + timedelta(seconds=seconds)
    assert is_contradicted(born, first_stated_at=START) is (seconds > REPORTED_DIFFERENCE_S)
