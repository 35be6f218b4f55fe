"""Source `music-service`: public pages of songs in the platform's music service.

A page gives a song's official name, its artist, its lyrics and clean audio, of a paid song a
preview. Pages are parsed in `parsers/music_service.py`.
"""

from pathlib import Path

from pipelines.platform.http.client import GuestClient, download_sound
from pipelines.platform.sources import table
from pipelines.platform.sources.planner import SurfaceReader
from warehouse.records.videos import ServiceSong, ServiceSongList, SoundAddresses, Video


class MusicServicePublic:
    """The music service of the profile. Owns its client.

    Raises (all methods):
        UpstreamError: The service refuses, cannot be reached, or has no such page.
    """

    def __init__(self, client: GuestClient) -> None:
        self._client = client
        self._surfaces = SurfaceReader(client)

    async def fetch_song(self, track_id: str) -> table.Reading[ServiceSong]:
        """Fetch the page of a song."""
        return await table.read_service_track(
            self._surfaces, table.SourceRequest(entity_id=track_id)
        )

    async def fetch_song_list(self, surface: str, list_id: str) -> table.Reading[ServiceSongList]:
        """Fetch the songs of a `service_playlist`, a `service_album` or a `service_artist`."""
        return await table.SERVICE_LISTS[surface](
            self._surfaces, table.SourceRequest(entity_id=list_id)
        )

    async def download_song(self, song: ServiceSong, into: Path) -> table.SoundFile:
        """Download the audio of a song to the folder `into`, named by the id of the song."""
        video = Video(
            aweme_id=song.track_id,
            surface=song.surface,
            observed_at=song.observed_at,
            sound=SoundAddresses(
                urls=(song.audio_url,) if song.audio_url else (), read_from=song.read_from
            ),
        )
        return await download_sound(self._client, video, into)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._client.aclose()
