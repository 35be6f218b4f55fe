"""Captures of one entity share a generation, whichever surface showed it."""

import pytest

from pipelines.captures.capture import entity_key


@pytest.mark.parametrize("surface", ["music_info", "music_list", "trends_list"])
def test_every_surface_of_a_music_id_has_its_key(surface: str) -> None:
    assert entity_key(surface, "12345") == "music:12345"
