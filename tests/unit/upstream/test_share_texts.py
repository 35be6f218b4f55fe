"""Share texts and links of public form lead where they say, or are refused by name."""

import tomllib
from pathlib import Path

import pytest

from pipelines.captures.inputs import read_music_input
from pipelines.platform.profiles import load_profile
from warehouse.records.errors import InvalidMusicInputError

TEXTS = Path(__file__).parents[2] / "data" / "links" / "share_texts.toml"
CASES = tomllib.loads(TEXTS.read_text(encoding="utf-8"))["text"]
SANDBOX = load_profile("sandbox", sandbox_port=8790)
ACCEPTED = {"music", "video", "short", "service_track", "trends"}
REFUSED = {
    "user": "an account", "hashtag": "a hashtag", "mix": "a collection",
    "article": "an article", "live": "a live room",
    "search": "a page of search results", "chart": "a music chart",
    "service_playlist": "a playlist", "service_album": "an album", "service_artist": "an artist",
    "service_video": "a user's video", "": "names no track|neither an id nor a link",
}  # fmt: skip


def test_there_are_at_least_three_hundred_texts() -> None:
    assert len(CASES) >= 300


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["text"][:60])
def test_a_share_text_leads_where_it_says_or_is_refused_by_name(case: dict[str, str]) -> None:
    target = SANDBOX.find_target(case["text"])
    assert (target.kind if target else "", target.id if target else "") == (
        case["kind"],
        case["id"],
    )
    if case["kind"] in ACCEPTED:
        assert read_music_input(case["text"], find_target=SANDBOX.find_target).value
        return
    with pytest.raises(InvalidMusicInputError, match=REFUSED[case["kind"]]):
        read_music_input(case["text"], find_target=SANDBOX.find_target)
