"""The platform's music service: pages of tracks, playlists, albums and artists, and short links.

Surfaces: `service_track`, `service_playlist`, `service_album`, `service_artist`,
`service_video`, `service_short`. All are on hosts of their own. The audio of a track is its clean
recording, or the beginning of it for a paid song.
"""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from sandbox.server.addresses import MUSIC, MUSIC_SHORT, read_code
from sandbox.server.documents import form_sources as forms
from sandbox.server.documents.pages import Document, service_page
from sandbox.server.documents.songs import (
    album_id,
    artist_id,
    audio_option,
    track_id_of,
    track_info,
    track_of,
)
from sandbox.server.media_tickets import song_address, video_address
from sandbox.server.platform import SandboxPlatform
from sandbox.server.routing import Surface
from sandbox.world.content.tables import SandboxSound

_PLAYLIST_SIZE = 10


def track_address(platform: SandboxPlatform, track_id: str) -> str:
    """Return the URL of a track's page."""
    return platform.addresses.on(MUSIC, f"/songs/share/track?track_id={track_id}")


async def _track(platform: SandboxPlatform, request: Request) -> Response:
    """Return the page of a track; that of an unknown one has no audio."""
    track_id, world = request.query_params.get("track_id", ""), platform.world
    number = track_of(world, track_id)
    if number is None:
        return service_page("track_page", {"audioWithLyricsOption": None})
    sound = world.tracks[number]
    option = audio_option(
        world, sound, url=song_address(platform, track_id),
        cover=platform.addresses.image(sound.music_id),
    )  # fmt: skip
    return service_page("track_page", {"track_id": track_id, "audioWithLyricsOption": option})


async def _playlist(platform: SandboxPlatform, request: Request) -> Response:
    """Return a playlist: an id counts the tracks from which it goes on, in a circle."""
    asked, songs = request.query_params.get("playlist_id", ""), _songs(platform)
    first = int(asked) % len(songs) if asked.isdecimal() and songs else 0
    listed = [*songs[first:], *songs[:first]][:_PLAYLIST_SIZE]
    info: Document = {
        "id": asked, "title": "每日歌单", "count_tracks": len(listed),
        "owner": {"nickname": "music"}, "create_time": platform.now,
    }  # fmt: skip
    medias = [
        {"type": "track", "entity": {"track": track_info(platform.world, sound)}}
        for sound in listed
    ]
    return service_page("playlist_page", {"playlistInfo": info, "medias": medias})


async def _album(platform: SandboxPlatform, request: Request) -> Response:
    return _list_of(platform, request, "album", album_id)


async def _artist(platform: SandboxPlatform, request: Request) -> Response:
    return _list_of(platform, request, "artist", artist_id)


def _list_of(
    platform: SandboxPlatform, request: Request, kind: str, id_of: Callable[[SandboxSound], str]
) -> Response:
    """Return the page of an album or an artist: the tracks that have the requested id there."""
    asked = request.query_params.get(f"{kind}_id", "")
    listed = [
        track_info(platform.world, sound) for sound in _songs(platform) if id_of(sound) == asked
    ]
    return service_page(f"{kind}_page", {f"{kind}Info": {"id": asked}, "trackList": listed})


async def _video(platform: SandboxPlatform, request: Request) -> Response:
    """Return the page of a video that a user published on the service."""
    work = platform.world.video_of_id(request.query_params.get("ugc_video_id", ""))
    if work is None or not work.is_public:
        return service_page("ugc_video_page", {"videoOptions": None})
    shown = {"title": platform.world.caption(work), "url": video_address(platform, work)}
    return service_page("ugc_video_page", {"videoOptions": shown})


async def _short(platform: SandboxPlatform, request: Request) -> Response:
    found = read_code(request.path_params["code"])
    known = found is not None and found[0] == "track"
    if found is None or not known or track_of(platform.world, str(found[1])) is None:
        return PlainTextResponse("not found", status_code=404)
    return RedirectResponse(track_address(platform, str(found[1])), status_code=302)


def _songs(platform: SandboxPlatform) -> list[SandboxSound]:
    world = platform.world
    return [sound for sound in world.tracks if track_id_of(world, sound) is not None]


SURFACES = (
    *(
        Surface(
            f"service_{name}", answer, f"/songs/share/{page}", hosts=(MUSIC,),
            source=forms.MUSIC_SERVICE,
        )
        for name, page, answer in (
            ("track", "track", _track), ("playlist", "playlist", _playlist),
            ("album", "album", _album), ("artist", "artist", _artist),
            ("video", "ugc_video", _video),
        )
    ),
    Surface("service_short", _short, "/s/{code}/", hosts=(MUSIC_SHORT,), source=forms.SHORT_LINKS),
)  # fmt: skip
