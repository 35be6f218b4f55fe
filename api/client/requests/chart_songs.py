"""What is sent for songs of the chart beside the platform, and for what people say of their links.

The service's own operations; the history of the chart is in `asking.py`. Nothing is sent here.
"""

from typing import Literal
from urllib.parse import quote

from ..types.extensions import ChartLinksData, ChartSongData
from .operations import Ask

CHART = "/api/v1/sametrack/chart"
ChartSaid = Literal["same", "different", "withdrawn"]


def chart_song(song_key: str) -> Ask[ChartSongData]:
    """One song."""
    return Ask("GET", f"{CHART}/songs/{quote(song_key, safe='')}")


def chart_links(song_key: str | None) -> Ask[ChartLinksData]:
    """What people said, of one song or of all."""
    return Ask("GET", f"{CHART}/links", {"song_key": song_key})


def link_chart_song(
    song_key: str, music_id: str, said: ChartSaid, said_by: str | None, note: str | None
) -> Ask[ChartSongData]:
    """One more statement. Each is kept, so that it is never sent twice."""
    said_of = {"song_key": song_key, "music_id": music_id, "said": said}
    body = {**said_of, "said_by": said_by, "note": note}
    return Ask("POST", f"{CHART}/links", body=body, is_safe=False)
