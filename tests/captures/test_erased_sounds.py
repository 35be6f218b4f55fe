"""A sound of an erased account is captured again without the names that its erasure made null."""

from datetime import UTC, datetime

import pytest

from pipelines.captures.erased_accounts import without_erased
from warehouse.maintenance.erasure import AccountNames
from warehouse.records.erasure import ErasureMarks, erasure_mark
from warehouse.records.videos import Author, Music, Track, Video, VideoPage

GONE, STAYS = "7410000000000000001", "7420000000000000001"
NAMES = AccountNames(
    sec_uid="MS4wLjABAAAAgone-0001", videos=frozenset({GONE}), displayed=frozenset({"Amy", "深"})
)
MARKS = ErasureMarks({"salt": frozenset(erasure_mark("salt", name) for name in NAMES.marked)})
OTHERS = ["@Amya创作的原声", "@xAmy创作的原声", "Amy创作的原声", "@林深创作的原声", "晚风", None]


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


def use(title: str | None) -> Video:
    """A video of another account that uses a sound."""
    return Video(
        aweme_id=STAYS, surface="music_list", observed_at=datetime(2026, 11, 1, tzinfo=UTC),
        author=Author(sec_uid="MS4wLjABAAAAstays-0002"),
        music=Music(music_id="7100000000000000001", title=title, author="Amy", mapped_title="晚风"),
    )  # fmt: skip


@pytest.mark.parametrize(
    "title",
    [
        "@Amy创作的原声",
        "@深创作的原声（原声中的歌曲：晚风）",
        "@Amy original sound",
        "@Amy Original Sound - 2",
    ],
)
def test_a_video_of_another_account_keeps_no_name_of_an_erased_sound(title: str) -> None:
    nameless = Music(music_id="7100000000000000001", mapped_title="晚风")
    page = VideoPage(videos=(use("晚风"), use(title)), cursor=None, has_more=False)
    first, second = without_erased(page, MARKS).videos
    assert first is page.videos[0]
    assert (second.music, second.author) == (nameless, page.videos[1].author)
    shown = without_erased(use(title), MARKS)
    assert isinstance(shown, Video)
    assert shown.music == nameless
    track = without_erased(sound(title, born_with=STAYS), MARKS)
    assert (track.title, track.author, track.owner_nickname) == (None, None, None)
    assert track.source_aweme_id == STAYS


@pytest.mark.parametrize("title", OTHERS)
def test_a_video_with_the_sound_of_another_name_is_kept_as_it_is(title: str | None) -> None:
    page = VideoPage(videos=(use(title),), cursor=None, has_more=False)
    assert without_erased(page, MARKS) is page
    assert without_erased(detail := use(title), MARKS) is detail
