"""Signed URLs of media files: they contain an expiry time and a checksum.

The checksum uses no secret; it makes an invented or altered URL fail, as on the platform.
"""

import hashlib

from sandbox.server.addresses import MEDIA, OTHER_MEDIA
from sandbox.server.platform import SandboxPlatform
from sandbox.world.content.tables import Alteration, SandboxSound, SandboxVideo
from sandbox.world.sound.sound_cache import Codec

LIFETIME_S = 3 * 3600
SILENT_FILE = "images_no_sound_volume_audio_file.mp3"
_FOLDER: dict[Codec, str] = {"aac": "video", "mp3": "sound"}
_ENDING: dict[Codec, str] = {"aac": "mp4", "mp3": "mp3"}


def media_path(name: str, *, codec: Codec) -> str:
    """Path of a file on the media host."""
    return f"/obj/{_FOLDER[codec]}/{name}.{_ENDING[codec]}"


def media_address(platform: SandboxPlatform, sound: SandboxSound, *, codec: Codec) -> str:
    """Return the URL of a music id's file, valid for `LIFETIME_S`."""
    return _address(platform, media_path(sound.music_id, codec=codec))


def video_address(platform: SandboxPlatform, work: SandboxVideo) -> str:
    """Return the URL of a video's file: that of its music id, unless it has its own sound."""
    sound = platform.world.sounds.row(work.sound)
    name = sound.music_id if work.alteration is Alteration.NONE else work.aweme_id
    return _address(platform, media_path(name, codec="aac"))


def song_address(platform: SandboxPlatform, track_id: str) -> str:
    """Return the URL of a track's recording on the music service."""
    return _address(platform, f"/obj/song/{track_id}.mp4")


def _address(platform: SandboxPlatform, path: str) -> str:
    expires = platform.now + LIFETIME_S
    query = f"x-expires={expires}&x-signature={_mark(path, expires)}"
    host = OTHER_MEDIA if platform.switches.is_on("media_other_host") else MEDIA
    return platform.addresses.on(host, f"{path}?{query}")


def silent_address(platform: SandboxPlatform) -> str:
    """Return the URL of the silent placeholder, which never expires."""
    return platform.addresses.on(MEDIA, f"/obj/sound/{SILENT_FILE}")


def is_valid(platform: SandboxPlatform, path: str, *, expires: str, mark: str) -> bool:
    """Return True while a URL is valid."""
    if not expires.isdigit() or mark != _mark(path, int(expires)):
        return False
    return platform.now <= int(expires)


def _mark(path: str, expires: int) -> str:
    return hashlib.blake2b(f"{path}|{expires}".encode(), digest_size=16).hexdigest()
