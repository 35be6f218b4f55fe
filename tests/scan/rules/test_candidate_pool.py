"""What enters the candidate pool, and in what order."""

from hypothesis import given
from hypothesis import strategies as st

from pipelines.scan.rules.candidate_pool import (
    KNOWN_MATCHES,
    Sighting,
    choose_candidates,
    choose_others,
    distinct,
)

TITLE = "夜航 (Night Flight)"


def seen(aweme_id: str, *, same: bool = False, desc: str | None = None, digg: int = 0) -> Sighting:
    return Sighting(
        aweme_id=aweme_id,
        surface="music_list" if same else "author_posts",
        entity_id="e",
        same_music=same,
        desc=desc,
        digg_count=digg,
    )


def chosen(sightings: list[Sighting], *, limit: int, pooled: tuple[str, ...] = ()) -> list[str]:
    picked = choose_candidates(sightings, title=TITLE, limit=limit, pooled=pooled)
    return [entry.aweme_id for entry in picked]


def test_known_ids_come_first_and_named_posts_by_likes() -> None:
    sightings = [
        seen("named-few", desc="听 夜航 吧", digg=3),
        seen("same", same=True),
        seen("named-many", desc="#夜航", digg=90),
    ]
    assert chosen(sightings, limit=10) == ["same", "named-many", "named-few"]


def test_known_ids_leave_room_for_other_music_ids() -> None:
    same = [seen(f"s{n}", same=True) for n in range(20)]
    named = [seen(f"n{n}", desc="夜航") for n in range(20)]
    picked = chosen(same + named, limit=10)
    assert sum(aweme_id.startswith("s") for aweme_id in picked) == 6
    assert sum(aweme_id.startswith("n") for aweme_id in picked) == 4


def test_known_ids_fill_the_room_that_nothing_else_wants() -> None:
    same = [seen(f"s{n}", same=True) for n in range(20)]
    assert len(chosen(same, limit=10)) == 10


def test_a_match_of_another_scan_comes_before_posts_that_name_the_song() -> None:
    match = Sighting(
        aweme_id="match", surface=KNOWN_MATCHES, entity_id="other", same_music=False
    )  # fmt: skip
    named = seen("named", desc="夜航", digg=90)
    assert chosen([named, match, seen("same", same=True)], limit=9) == ["same", "match", "named"]
    listed_before = seen("match", desc="good morning")
    assert chosen([listed_before, named, match], limit=9) == ["match", "named"]


def test_a_post_that_names_nothing_waits() -> None:
    assert chosen([seen("plain", desc="good morning", digg=10**6)], limit=10) == []


def test_candidate_pool_gives_other_music_ids_half_of_its_room_most_liked_first() -> None:
    others = [seen(f"o{n}", digg=n) for n in range(100)]
    picked = choose_others(others, limit=102, pooled=("a", "b"))
    assert [entry.aweme_id for entry in picked] == [f"o{n}" for n in range(99, 49, -1)]


def test_small_candidate_pool_gives_other_music_ids_all_of_its_room() -> None:
    others = [seen(f"o{n}", digg=n) for n in range(10)]
    picked = choose_others(others, limit=10, pooled=("a", "b"))
    assert [entry.aweme_id for entry in picked] == [f"o{n}" for n in range(9, 1, -1)]


def test_a_same_music_sighting_replaces_another_of_the_same_video() -> None:
    merged = distinct([seen("v"), seen("v", same=True), seen("v")])
    assert [entry.same_music for entry in merged] == [True]


def test_user_sound_titles_name_no_song() -> None:
    picked = choose_candidates(
        [seen("v", desc="@小明创作的原声")], title="@小明创作的原声", limit=5, pooled=()
    )
    assert picked == ()


@given(
    st.lists(st.tuples(st.integers(0, 40), st.booleans(), st.integers(0, 9)), max_size=80),
    st.integers(0, 30),
)
def test_the_pool_never_exceeds_its_limit_and_never_repeats(
    rows: list[tuple[int, bool, int]], limit: int
) -> None:
    sightings = [seen(str(n), same=same, desc="夜航", digg=digg) for n, same, digg in rows]
    picked = chosen(sightings, limit=limit)
    assert len(picked) <= limit
    assert len(picked) == len(set(picked))


@given(st.lists(st.integers(0, 40), max_size=60), st.integers(0, 30))
def test_priorities_fall_along_the_order(ids: list[int], limit: int) -> None:
    sightings = [seen(str(n), same=n % 2 == 0, desc="夜航") for n in ids]
    priorities = [
        entry.priority for entry in choose_candidates(sightings, title=TITLE, limit=limit)
    ]
    assert priorities == sorted(priorities, reverse=True)
