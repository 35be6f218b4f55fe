"""Requests for chart songs and their links. Chart history is in `operations.py`."""

from typing import Literal
from urllib.parse import quote

from ..types.extensions import ChartLinksData, ChartSongData
from .operations import ApiRequest

CHART = "/api/v1/sametrack/chart"
ChartLinkDecision = Literal["same", "different", "withdrawn"]


def chart_song(song_key: str) -> ApiRequest[ChartSongData]:
    """Read a song."""
    return ApiRequest("GET", f"{CHART}/songs/{quote(song_key, safe='')}")


def chart_links(song_key: str | None) -> ApiRequest[ChartLinksData]:
    """List link decisions, of one song or of all."""
    return ApiRequest("GET", f"{CHART}/links", {"song_key": song_key})


def link_chart_song(
    song_key: str, music_id: str, said: ChartLinkDecision, said_by: str | None, note: str | None
) -> ApiRequest[ChartSongData]:
    """Add a link decision. Each one is stored, so the request is not retried."""
    decision = {"song_key": song_key, "music_id": music_id, "said": said}
    body = {**decision, "said_by": said_by, "note": note}
    return ApiRequest("POST", f"{CHART}/links", body=body, is_safe=False)
