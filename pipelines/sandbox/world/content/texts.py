"""Names, titles and captions, each generated from its own random stream on demand.

What belongs here: how words are combined. The words are in `vocabulary.py`; which caption names
which track is decided in `posting.py`.
"""

from functools import lru_cache

from numpy.random import Generator

from pipelines.sandbox.world.content import vocabulary as words
from pipelines.sandbox.world.random_streams import chance, stream

_PAIRS = len(words.MOODS_ZH) * len(words.THINGS_ZH)  # so many titles before a pair comes again


def pick(rng: Generator, values: tuple[str, ...]) -> str:
    """One of the values."""
    return values[int(rng.integers(len(values)))]


@lru_cache(maxsize=65_536)  # a search reads the title behind every caption
def song_title(seed: int, score: int) -> str:
    """Return the title of a composition. About one in six has a form that breaks careless code."""
    rng = stream(seed, "title", score)
    pairs = stream(seed, "title pairs").permutation(_PAIRS)
    mood, thing = divmod(int(pairs[score % _PAIRS]), len(words.THINGS_ZH))
    zh = f"{words.MOODS_ZH[mood]}{words.THINGS_ZH[thing]}"
    en = f"{words.MOODS_EN[mood]} {words.THINGS_EN[thing]}"
    forms = (
        zh,
        f"{zh}的{pick(rng, words.PLACES_ZH)}",
        en,
        f"{zh}与{pick(rng, words.PLACES_ZH)}",
        f"{zh} ({en})",
        f"{en} in {pick(rng, words.PLACES_ZH)}",
    )
    plain = forms[int(rng.integers(len(forms)))]
    return _odd_title(rng, plain, score)


def _odd_title(rng: Generator, plain: str, score: int) -> str:
    odd = {
        5: f'{plain} <b>remix</b> & "Co"',
        11: f"{plain} 🌙✨",
        17: f"ليل {plain}",
        22: "，".join([plain, *(pick(rng, words.MOODS_ZH) + pick(rng, words.PLACES_ZH)
                               for _ in range(24))]),
    }  # fmt: skip
    return odd.get(score % 24, plain)


def artist_name(seed: int, score: int) -> str:
    """An invented artist, two of three with Chinese characters."""
    rng = stream(seed, "artist", score)
    latin = "".join(pick(rng, words.SYLLABLES) for _ in range(2)).title()
    forms = (
        f"{pick(rng, words.MOODS_ZH)}{pick(rng, words.PLACES_ZH)}乐队",
        f"{latin} {pick(rng, words.SYLLABLES).title()}son",
        f"{pick(rng, words.THINGS_ZH)}{latin}",
    )
    return forms[int(rng.integers(3))]


def nickname(seed: int, account: int) -> str:
    """Name of an account; one of thirty is hostile."""
    rng = stream(seed, "nickname", account)
    if chance(rng, 1 / 30):
        return pick(rng, words.HOSTILE)[:30]
    if chance(rng, 0.6):
        return f"{pick(rng, words.NICKS_ZH)}{int(rng.integers(1, 99)) if chance(rng, 0.5) else ''}"
    return f"{pick(rng, words.NICKS_EN)}_{pick(rng, words.SYLLABLES)}{int(rng.integers(10, 999))}"


def signature(seed: int, account: int) -> str:
    """What an account says about itself."""
    rng = stream(seed, "signature", account)
    return f"{pick(rng, words.PHRASES)}{pick(rng, words.EMOJI)}\n合作请私信 {pick(rng, words.TAGS)}"


def user_sound_title(seed: int, account: int) -> str:
    """Return the platform's title for a sound that an account uploaded."""
    return words.SOUND_OF.format(name=nickname(seed, account))


def lyric_line(rng: Generator) -> str:
    """One line of a song."""
    return f"{pick(rng, words.MOODS_ZH)}的{pick(rng, words.THINGS_ZH)} {pick(rng, words.PLACES_ZH)}"


def release_title(rng: Generator, title: str) -> str:
    """Title of a re-upload that still names the song."""
    return pick(rng, words.RELEASES).format(title=title)


def caption(seed: int, work: int, *, title: str | None, as_tag: bool) -> str:
    """Text of a video.

    Args:
        seed: Seed of the world.
        work: Index of the video.
        title: Song that the caption names, rightly or wrongly; None for no hint.
        as_tag: Name it as a hashtag instead of in the sentence.
    """
    rng = stream(seed, "caption", work)
    parts = [pick(rng, words.PHRASES)]
    if title is not None:
        parts.append(f"#{to_tag(title)}" if as_tag else f"《{title}》")
    if chance(rng, 0.5):
        parts.append(pick(rng, words.EMOJI) * int(rng.integers(1, 4)))
    if chance(rng, 0.03):
        parts.insert(0, pick(rng, words.HOSTILE))
    parts.extend(f"#{tag}" for tag in sorted({pick(rng, words.TAGS) for _ in range(2)}))
    return " ".join(parts)


def to_tag(title: str) -> str:
    """Return a title as users write it into a hashtag: without spaces and punctuation."""
    return "".join(letter for letter in title if letter.isalnum())[:40]
