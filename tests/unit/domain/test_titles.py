"""When a text names a song, and when it names nothing."""

import pytest

from pipelines.scan.rules.titles import mentions, song_names, title_to_match


@pytest.mark.parametrize(
    ("title", "names"),
    [
        ("夜航", ("夜航",)),
        ("Night Flight (Sped Up)", ("nightflightspedup", "nightflight")),
        ("ＮＩＧＨＴ　flight", ("nightflight",)),
        ("(intro)", ("intro",)),
        ("夜航 (Night) & Co", ("夜航nightco", "夜航co")),
        ("@小明创作的原声", ()),
        ("@someone original sound", ()),
        ("A", ()),
        ("", ()),
        (None, ()),
    ],
)
def test_song_titles_are_folded(title: str | None, names: tuple[str, ...]) -> None:
    assert song_names(title) == names


@pytest.mark.parametrize(
    "caption",
    ["听《夜航 (Night) & Co》", "#夜航NightCo", "夜航 & co"],
)
def test_a_bracket_inside_a_title_hides_no_mention(caption: str) -> None:
    assert mentions("夜航 (Night) & Co", [caption])


def test_a_hashtag_or_caption_with_the_full_title_mentions_it() -> None:
    assert mentions("Night Flight", [None, "so good #NightFlight!!"])


def test_half_a_title_is_no_mention() -> None:
    assert not mentions("Night Flight", ["good night"])


@pytest.mark.parametrize(
    ("title", "mapped", "matched"),
    [
        ("夜航", "晚风", "夜航"),
        ("@小明创作的原声", "晚风", "晚风"),
        ("@小明创作的原声", None, "@小明创作的原声"),
        (None, "晚风", "晚风"),
        (None, None, None),
    ],
)
def test_a_user_sound_is_matched_by_the_song_named_inside_it(
    title: str | None, mapped: str | None, matched: str | None
) -> None:
    assert title_to_match(title, mapped) == matched
