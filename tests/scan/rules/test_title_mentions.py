"""When a text names a song, and when it names nothing."""

import pytest

from pipelines.scan.rules.search import folded, mentions, song_names, title_to_match


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
    ("title", "others"),
    [
        ("दिल", ("दल", "दुल", "दल्")),  # Devanagari
        ("মন", ("মান", "মিন")),  # Bengali
        ("நிலா", ("நலா", "நீலா")),  # Tamil
        ("ที่รัก", ("ทีรัก", "ทรก")),  # Thai
        ("ສີດາ", ("ສດາ", "ສິດາ")),  # Lao
        ("ស្រី", ("សរ", "ស្រ")),  # Khmer
        ("မိုးရေ", ("မးရေ", "မိုးရ")),  # Burmese
    ],
)
def test_words_that_differ_by_a_vowel_sign_or_a_tone_are_different(
    title: str, others: tuple[str, ...]
) -> None:
    assert mentions(title, [f"♪ {title}!"])
    assert [other for other in others if folded(other) == folded(title)] == []


@pytest.mark.parametrize(
    ("title", "caption"),
    [
        ("Mẹ n\u0304uôi", "Mẹ nuôi"),  # no letter has this accent: it is left out
        ("أُمِّي", "أمي"),  # Arabic is read without its vowel points
        ("शुभ।", "#शुभ"),
        ("sun☀\ufe0fset", "sun ☀ set"),
    ],
)
def test_accents_points_and_signs_are_no_part_of_a_word(title: str, caption: str) -> None:
    assert mentions(title, [caption])
    assert mentions(caption, [title])


def test_a_letter_with_its_vowel_sign_is_no_title_yet() -> None:
    assert song_names("की") == ()
    assert song_names("कीर") == ("कीर",)


@pytest.mark.parametrize(
    "caption",
    ["听《夜航 (Night) & Co》", "#夜航NightCo", "夜航 & co"],
)
def test_a_bracket_inside_a_title_hides_no_mention(caption: str) -> None:
    assert mentions("夜航 (Night) & Co", [caption])


def test_a_hashtag_or_caption_with_the_full_title_mentions_it() -> None:
    assert mentions("Night Flight", [None, "so good #NightFlight!!"])


def test_part_of_a_title_does_not_mention_the_song() -> None:
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
