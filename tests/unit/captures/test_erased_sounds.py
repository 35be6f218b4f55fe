"""A sound of an erased video is captured again without the names that its erasure made null."""

from datetime import UTC, datetime

import pytest

from pipelines.captures.erased_accounts import without_erased
from warehouse.records.erasure import ErasureMarks, erasure_mark
from warehouse.records.videos import Track

GONE, STAYS = "7410000000000000001", "7420000000000000001"
MARKS = ErasureMarks({"salt": frozenset({erasure_mark("salt", GONE)})})


def sound(title: str | None, *, born_with: str = GONE, name: str | None = "林深") -> Track:
    return Track(
        music_id="7100000000000000001", surface="music_info", title=title, author=name,
        observed_at=datetime(2026, 11, 1, tzinfo=UTC), owner_nickname=name,
        source_aweme_id=born_with,
    )  # fmt: skip


@pytest.mark.parametrize(
    "title",
    [
        "@林深创作的原声",
        "@an earlier name创作的原声",
        "晚风 by @林深",
        "@林深创作的原声（原声中的歌曲：晚风）",
    ],
)
def test_a_title_that_names_the_uploader_is_not_kept(title: str) -> None:
    kept = without_erased(sound(title), MARKS)
    assert (kept.title, kept.author, kept.owner_nickname) == (None, None, None)
    assert kept.source_aweme_id is None


@pytest.mark.parametrize(
    ("title", "name"),
    [("晚风", "林深"), ("晚风 by @another", "林深"), ("晚风 @ night", None), (None, "林深")],
)
def test_a_title_that_names_nobody_of_it_is_kept(title: str | None, name: str | None) -> None:
    kept = without_erased(sound(title, name=name), MARKS)
    assert (kept.title, kept.author) == (title, None)


def test_a_sound_of_another_video_is_kept_as_it_is() -> None:
    other = sound("@林深创作的原声", born_with=STAYS)
    assert without_erased(other, MARKS) is other
