"""When a text names a song, and when it names nothing."""

import pytest

from pipelines.domain.titles import mentions, song_title


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("夜航", "夜航"),
        ("Night Flight (Sped Up)", "nightflight"),
        ("ＮＩＧＨＴ　flight", "nightflight"),
        ("(intro)", "intro"),
        ("@小明创作的原声", None),
        ("@someone original sound", None),
        ("A", None),
        ("", None),
        (None, None),
    ],
)
def test_song_titles_are_folded(title: str | None, name: str | None) -> None:
    assert song_title(title) == name


def test_a_hashtag_or_caption_with_the_full_title_mentions_it() -> None:
    assert mentions("Night Flight", [None, "so good #NightFlight!!"])


def test_half_a_title_is_no_mention() -> None:
    assert not mentions("Night Flight", ["good night"])
