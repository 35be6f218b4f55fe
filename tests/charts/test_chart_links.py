"""Songs of the chart and music ids: names, what was heard, and people, who have the last word."""

import itertools
from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.charts.rules.platform_comparison import (
    RULES,
    Confidence,
    Reason,
    Song,
    SongMatch,
    artists_of,
    link_songs,
)
from warehouse.records.charts import AudioMatch, PlatformMusic, SongLinkChoice, SongLinkDecision

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SONG = Song(song_key="hash:1", title="晴天的海 (Live)", artist="Lila、北方乐队")


def sound(
    music_id: str = "10", title: str = "晴天的海 (Live)", author: str | None = "Lila/北方乐队"
) -> PlatformMusic:
    return PlatformMusic(music_id=music_id, title=title, author=author, is_original_sound=False)


def stated(said: SongLinkChoice, minute: int = 0, music_id: str = "10") -> SongLinkDecision:
    at = NOON + timedelta(minutes=minute)
    return SongLinkDecision(song_key=SONG.song_key, music_id=music_id, said=said, said_at=at)


def only(links: tuple[SongMatch, ...], music_id: str = "10") -> SongMatch:
    found = [link for link in links if link.music_id == music_id]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (sound(), "title_and_artist"),
        (sound(title=" 晴天 的海（LIVE）", author="LILA & 北方乐队"), "title_and_artist"),
        (sound(author="Lila"), "title_and_one_artist"),
        (sound(title="晴天的海"), "title_without_addition"),
        (sound(author=None), "title_only"),
        (
            PlatformMusic(music_id="10", title="晴天的海", author="某人", is_original_sound=True),
            "title_only",
        ),
        (sound(author="Somebody Else"), "artist_differs"),
    ],
)
def test_names_that_meet_say_how_far_they_agree(other: PlatformMusic, reason: Reason) -> None:
    link = only(link_songs([SONG], [other]))
    assert (link.reason, (link.relation, link.confidence)) == (reason, RULES[reason])


@pytest.mark.parametrize("title", ["别的歌", "@晴天的海创作的原声", "", None])
def test_other_titles_are_not_linked_at_all(title: str | None) -> None:
    assert link_songs([SONG], [PlatformMusic(music_id="10", title=title, author="Lila")]) == ()


def test_a_title_of_one_letter_is_linked_by_people_alone() -> None:
    song = Song(song_key=SONG.song_key, title="海", artist="Lila")
    assert link_songs([song], [sound(title="海", author="Lila")]) == ()
    assert only(link_songs([song], [], (), [stated("same")])).confidence == "manual"


def test_confirmed_recording_links_a_song_to_both_music_ids() -> None:
    links = link_songs([SONG], [sound()], [AudioMatch("10", "11"), AudioMatch("12", "10")])
    for music_id in ("11", "12"):
        link = only(links, music_id)
        assert (link.relation, link.reason, link.via_music_id) == (
            "same", "confirmed_recording", "10",
        )  # fmt: skip


def test_derived_song_link_is_no_more_certain_than_its_source() -> None:
    links = link_songs([SONG], [sound(author=None)], [AudioMatch("10", "11")])
    assert (only(links, "11").relation, only(links, "11").confidence) == ("possible", "low")
    heard = [AudioMatch("10", "11", is_variant=True)]
    assert only(link_songs([SONG], [sound()], heard), "11").relation == "possible"


def test_link_decision_overrides_song_links_until_withdrawn() -> None:
    heard = [AudioMatch("10", "11")]
    by_rule = link_songs([SONG], [sound()], heard)
    denied = link_songs([SONG], [sound()], heard, [stated("different")])
    assert (only(denied).relation, only(denied).reason) == ("different", "manual_different")
    assert [link for link in denied if link.music_id == "11"] == []
    said = [stated("different"), stated("same", 1), stated("different", 2), stated("withdrawn", 3)]
    assert only(link_songs([SONG], [sound()], heard, said[:2])).confidence == "manual"
    assert link_songs([SONG], [sound()], heard, said) == by_rule


def test_a_statement_on_a_song_that_is_on_no_kept_issue_waits() -> None:
    assert link_songs([], [sound()], (), [stated("same")]) == ()


def test_artists_are_told_apart_however_they_are_joined() -> None:
    for line in (
        "Lila、北方乐队",
        "lila / 北方乐队",
        "北方乐队 feat. LILA",
        "Lila x 北方乐队",
        "Lila＆北方乐队",
    ):
        assert artists_of(line) == {"lila", "北方乐队"}, line
    assert artists_of("Felix") == {"felix"}
    assert artists_of(None) == artists_of(" / ") == frozenset()


names = st.sampled_from(["晴天的海", "晴天的海 (Live)", "Blue Harbor", "blue harbor"])
artists = st.sampled_from([None, "Lila", "Lila、Bo", "Bo"])
songs = st.lists(
    st.builds(Song, song_key=st.sampled_from("abc"), title=names, artist=artists),
    unique_by=lambda song: song.song_key,
)
sounds = st.lists(
    st.builds(
        PlatformMusic, music_id=st.sampled_from("1234"), title=names, author=artists,
        is_original_sound=st.sampled_from([None, False, True]),
    ),
    unique_by=lambda sound: sound.music_id,
)  # fmt: skip
ids = st.sampled_from("12345")
heards = st.lists(st.builds(AudioMatch, ids, ids, st.booleans()), max_size=5)
statements = st.lists(
    st.builds(
        SongLinkDecision, song_key=st.sampled_from("abc"), music_id=ids,
        said=st.sampled_from(get_args(SongLinkChoice)),
        said_at=st.integers(0, 9).map(lambda minute: NOON + timedelta(minutes=minute)),
    ),
    max_size=5, unique_by=lambda one: one.said_at,
)  # fmt: skip


@given(songs, sounds, heards, statements)
def test_links_do_not_depend_on_the_order_of_anything(
    some: list[Song],
    others: list[PlatformMusic],
    heard: list[AudioMatch],
    said: list[SongLinkDecision],
) -> None:
    links = link_songs(some, others, heard, said)
    assert link_songs(some[::-1], others[::-1], heard[::-1], said[::-1]) == links
    pairs = [(link.song_key, link.music_id) for link in links]
    assert pairs == sorted(set(pairs))


@given(songs, sounds, heards, statements)
def test_the_newest_word_of_a_person_always_holds(
    some: list[Song],
    others: list[PlatformMusic],
    heard: list[AudioMatch],
    said: list[SongLinkDecision],
) -> None:
    links = {(one.song_key, one.music_id): one for one in link_songs(some, others, heard, said)}
    newest = {(s.song_key, s.music_id): s.said for s in sorted(said, key=lambda s: s.said_at)}
    for song, music_id in itertools.product(some, "12345"):
        word = newest.get((song.song_key, music_id))
        link = links.get((song.song_key, music_id))
        is_manual = link is not None and link.confidence == "manual"
        assert is_manual == (word in {"same", "different"})
        assert not is_manual or link is None or link.relation == word


@given(songs, sounds, heards)
def test_more_that_was_heard_never_weakens_a_link(
    some: list[Song], others: list[PlatformMusic], heard: list[AudioMatch]
) -> None:
    order = get_args(Confidence)
    before = link_songs(some, others)
    after = {(one.song_key, one.music_id): one for one in link_songs(some, others, heard)}
    for link in before:
        now = after[link.song_key, link.music_id]
        if link.relation == "same":
            assert now.relation == "same"
            assert order.index(now.confidence) <= order.index(link.confidence)
