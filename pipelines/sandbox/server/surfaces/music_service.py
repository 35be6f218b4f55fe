"""The platform's music service: pages of tracks, playlists, albums and artists, and short links.

Route names: `service_track`, `service_playlist`, `service_album`, `service_artist`,
`service_video`, `service_short`. All are on hosts of their own. The audio of a track is its clean
recording, or the beginning of it for a paid song.
"""

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute

from pipelines.sandbox.server.addresses import MUSIC, MUSIC_SHORT, read_code
from pipelines.sandbox.server.documents.pages import Document, to_service_page
from pipelines.sandbox.server.documents.songs import (
    album_id,
    artist_id,
    audio_option,
    track_id_of,
    track_info,
    track_of,
)
from pipelines.sandbox.server.media_tickets import song_address, video_address
from pipelines.sandbox.server.platform import SandboxPlatform
from pipelines.sandbox.server.routing import HostRoute
from pipelines.sandbox.world.content.sounds import SandboxSound

TRACK_PATH = "/songs/share/track"
_PLAYLIST_SIZE = 10


def routes(platform: SandboxPlatform) -> list[BaseRoute]:
    """Return the routes of the pages and of the older short links."""
    service = _Service(platform)
    lists = (
        ("playlist", "service_playlist", service.playlist),
        ("album", "service_album", service.album), ("artist", "service_artist", service.artist),
        ("ugc_video", "service_video", service.video),
    )  # fmt: skip
    return [
        HostRoute(TRACK_PATH, service.track, name="service_track", hosts=(MUSIC,)),
        *(
            HostRoute(f"/songs/share/{kind}", page, name=name, hosts=(MUSIC,))
            for kind, name, page in lists
        ),
        HostRoute("/s/{code}/", service.short, name="service_short", hosts=(MUSIC_SHORT,)),
    ]


def track_address(platform: SandboxPlatform, track_id: str) -> str:
    """Return the URL of a track's page."""
    return platform.addresses.on(MUSIC, f"{TRACK_PATH}?track_id={track_id}")


class _Service:
    def __init__(self, platform: SandboxPlatform) -> None:
        self.platform = platform

    async def track(self, request: Request) -> Response:
        """Return the page of a track; that of an unknown one has no audio."""
        track_id, world = request.query_params.get("track_id", ""), self.platform.world
        number = track_of(world, track_id)
        if number is None:
            return _page("track_page", {"audioWithLyricsOption": None})
        sound = world.tracks[number]
        option = audio_option(
            world, sound, url=song_address(self.platform, track_id),
            cover=self.platform.addresses.image(sound.music_id),
        )  # fmt: skip
        return _page("track_page", {"track_id": track_id, "audioWithLyricsOption": option})

    async def playlist(self, request: Request) -> Response:
        """Return a playlist: an id counts the tracks from which it goes on."""
        asked, songs = request.query_params.get("playlist_id", ""), self._songs()
        first = int(asked) % len(songs) if asked.isdecimal() and songs else 0
        listed = songs[first : first + _PLAYLIST_SIZE]
        info: Document = {
            "id": asked, "title": "每日歌单", "count_tracks": len(listed),
            "owner": {"nickname": "music"}, "create_time": self.platform.now,
        }  # fmt: skip
        return _page("playlist_page", {"playlistInfo": info, "medias": self._medias(listed)})

    async def album(self, request: Request) -> Response:
        asked = request.query_params.get("album_id", "")
        listed = [sound for sound in self._songs() if album_id(sound) == asked]
        return _page("album_page", {"albumInfo": {"id": asked}, "trackList": self._infos(listed)})

    async def artist(self, request: Request) -> Response:
        asked = request.query_params.get("artist_id", "")
        listed = [sound for sound in self._songs() if artist_id(sound) == asked]
        return _page("artist_page", {"artistInfo": {"id": asked}, "trackList": self._infos(listed)})

    async def video(self, request: Request) -> Response:
        """Return the page of a video that a user published on the service."""
        work = self.platform.world.video_of_id(request.query_params.get("ugc_video_id", ""))
        if work is None or not self.platform.world.is_public(work):
            return _page("ugc_video_page", {"videoOptions": None})
        caption, url = self.platform.world.caption(work), video_address(self.platform, work)
        return _page("ugc_video_page", {"videoOptions": {"title": caption, "url": url}})

    async def short(self, request: Request) -> Response:
        found = read_code(request.path_params["code"])
        known = found is not None and found[0] == "track"
        if found is None or not known or track_of(self.platform.world, str(found[1])) is None:
            return PlainTextResponse("not found", status_code=404)
        return RedirectResponse(track_address(self.platform, str(found[1])), status_code=302)

    def _songs(self) -> list[SandboxSound]:
        world = self.platform.world
        return [sound for sound in world.tracks if track_id_of(world, sound) is not None]

    def _infos(self, sounds: list[SandboxSound]) -> list[Document]:
        return [track_info(self.platform.world, sound) for sound in sounds]

    def _medias(self, sounds: list[SandboxSound]) -> list[Document]:
        return [{"type": "track", "entity": {"track": info}} for info in self._infos(sounds)]


def _page(name: str, data: Document) -> Response:
    return HTMLResponse(to_service_page({"loaderData": {name: data}, "errors": None}))
