"""What people write: hints, hostile text, titles that break careless code."""

import pytest

from sandbox.world.content import texts
from sandbox.world.content.tables import SoundKind
from sandbox.world.world import SandboxWorld

pytestmark = pytest.mark.full

WORLD = SandboxWorld(6, 1.0)


def test_a_hinted_caption_names_the_title_or_its_tag() -> None:
    hinted = [row for row in range(600) if WORLD.works.named_score[row] >= 0]
    for row in hinted:
        work = WORLD.works.row(row)
        title = WORLD.title_of(work.named_score)
        named = f"#{texts.to_tag(title)}" if work.is_tagged else f"《{title}》"
        assert named in WORLD.caption(work)


def test_an_unhinted_caption_names_no_track() -> None:
    titles = [WORLD.title_of(score) for score in range(WORLD.track_count)]
    silent = [row for row in range(600) if WORLD.works.named_score[row] < 0]
    captions = [WORLD.caption(WORLD.works.row(row)) for row in silent]
    assert not [caption for caption in captions for title in titles if title in caption]


def test_titles_of_tracks_differ_and_some_are_odd() -> None:
    titles = [WORLD.title_of(score) for score in range(WORLD.track_count)]
    assert len(set(titles)) == len(titles)
    assert max(map(len, titles)) > 120
    assert any("<b>" in title for title in titles)
    assert any("\u0600" <= letter <= "\u06ff" for title in titles for letter in title)


def test_hostile_strings_occur_in_captions_and_names() -> None:
    captions = [WORLD.caption(WORLD.works.row(row)) for row in range(len(WORLD.works))]
    seen = {text for text in texts.HOSTILE for caption in captions if text in caption}
    names = [WORLD.account(index).nickname for index in range(WORLD.account_count)]
    assert len(seen) >= 9
    assert any(name in text for name in names for text in texts.HOSTILE)


def test_a_user_sound_names_its_person_and_a_song_its_title() -> None:
    titles = {
        SoundKind(int(WORLD.sounds.kind[row])): WORLD.sound_title(WORLD.sounds.row(row))
        for row in range(len(WORLD.sounds))
        if WORLD.sounds.owner[row] >= 0
    }
    assert titles[SoundKind.VOICE_OVER].startswith("@")
    assert titles[SoundKind.VOICE_OVER].endswith("创作的原声")
    own = WORLD.tracks[0]
    assert WORLD.sound_title(own) == WORLD.title_of(own.score)


def test_a_namesake_has_the_title_but_another_artist() -> None:
    bears = WORLD.population.title_score
    score = next(s for s in range(WORLD.track_count, bears.size) if bears[s] < WORLD.track_count)
    assert WORLD.title_of(score) == WORLD.title_of(int(bears[score]))
    assert texts.artist_name(6, score) != texts.artist_name(6, int(bears[score]))
