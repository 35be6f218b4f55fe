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


def test_share_texts_lead_where_they_say_or_are_refused_by_name() -> None:
    for case in CASES:
        target = SANDBOX.find_target(case["text"])
        found = (target.kind, target.id) if target else ("", "")
        assert found == (case["kind"], case["id"]), case["text"]
        if case["kind"] in ACCEPTED:
            assert read_music_input(case["text"], find_target=SANDBOX.find_target).value
            continue
        with pytest.raises(InvalidMusicInputError, match=REFUSED[case["kind"]]):
            read_music_input(case["text"], find_target=SANDBOX.find_target)
