"""Provider `file`: users and videos from two JSON files of the operator. Nothing is contacted.

It serves what the files contain: accounts, videos, posts of an account, and the videos of a music
id or a hashtag. It invents nothing.
"""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path

from pipelines.platform.parsers.links import LinkTarget
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers.dependencies import ProviderDependencies
from pipelines.platform.providers.file.records import (
    GUIDE,
    UserRecord,
    VideoRecord,
    read_users,
    read_videos,
)
from pipelines.platform.reading import Reading, SoundFile
from warehouse.records.errors import (
    AudioUnavailableError,
    InvalidMusicInputError,
    ProviderUnsupportedError,
    UnresolvedIdError,
)
from warehouse.records.search import SearchPage, SearchPosition
from warehouse.records.videos import (
    Account,
    Author,
    Hashtag,
    HashtagInfo,
    Music,
    Statistics,
    Track,
    UnavailableVideo,
    Video,
    VideoDetail,
    VideoPage,
)

PAGE_SIZE = 20
PARSER_VERSION = "file-1"
_SUPPORTED_HINT = "files provide accounts, videos, and videos by account, music id or hashtag"


def build(name: str, dependencies: ProviderDependencies) -> "FileProvider":
    """Build the source over the configured files.

    Raises:
        ProviderUnsupportedError: No file is configured.
        InvalidParameterError: A file cannot be read, or a record in it is invalid.
    """
    settings = dependencies.settings
    if settings.users_file is None and settings.videos_file is None:
        raise ProviderUnsupportedError(
            "no file is configured", hint=f"set USERS_FILE and VIDEOS_FILE; {GUIDE}"
        )
    return FileProvider(
        read_users(settings.users_file),
        read_videos(settings.videos_file),
        profile=dependencies.profile,
        name=name,
    )


class FileProvider:
    """Two files as a source.

    Args:
        users: Accounts.
        videos: Videos.
        profile: Forms of links; nothing there is contacted.
        name: Name of this source in rows.
    """

    def __init__(
        self,
        users: Iterable[UserRecord],
        videos: Iterable[VideoRecord],
        *,
        profile: PlatformProfile,
        name: str,
    ) -> None:
        self.name = name
        self._profile = profile
        self._users = {user.sec_uid: user for user in users}
        # In the order in which the platform lists posts: pinned ones first.
        newest_first = sorted(videos, key=lambda video: (not video.is_top, -_time(video)))
        self._videos = {video.aweme_id: video for video in newest_first}

    def find_target(self, text: str) -> LinkTarget | None:
        """Return the target of the first platform link in a text."""
        return self._profile.find_target(text)

    async def fetch_track(self, music_id: str) -> Reading[Track]:
        """Return one music id, as the videos that use it describe it."""
        used = next((v.music for v in self._videos.values() if _uses(v, music_id)), None)
        if used is None:
            raise InvalidMusicInputError(
                f"no video in VIDEOS_FILE uses the music id {music_id}", hint=GUIDE
            )
        track = Track(
            music_id=music_id,
            surface="music_info",
            observed_at=datetime.now(UTC),
            title=used.title,
            author=used.author,
            duration_s=used.duration,
            is_original_sound=used.is_original_sound,
        )
        return self._reading("music_info", music_id, track)

    async def fetch_music_page(self, music_id: str, cursor: int) -> Reading[VideoPage]:
        """Return one page of the videos under a music id."""
        return self._page("music_list", music_id, cursor, lambda video: _uses(video, music_id))

    async def fetch_author_page(self, sec_uid: str, cursor: int) -> Reading[VideoPage]:
        """Return one page of posts: pinned ones first, then the newest."""
        return self._page(
            "user_posts", sec_uid, cursor, lambda video: video.author.sec_uid == sec_uid
        )

    async def fetch_account(self, sec_uid: str) -> Reading[Account]:
        """Return one account."""
        user = self._users.get(sec_uid)
        if user is None:
            raise UnresolvedIdError("USERS_FILE contains no such account", hint=GUIDE)
        return self._reading("user_info", sec_uid, _account(user, "user_info"))

    async def fetch_account_by_handle(self, handle: str) -> Reading[Account]:
        """Return the account with a handle."""
        wanted = handle.removeprefix("@").casefold()
        for user in self._users.values():
            if (user.unique_id or "").casefold() == wanted:
                return self._reading("user_by_handle", handle, _account(user, "user_by_handle"))
        raise UnresolvedIdError("USERS_FILE contains no account with this handle", hint=GUIDE)

    async def fetch_video(self, aweme_id: str) -> Reading[VideoDetail | UnavailableVideo]:
        """Return one video; one that the file does not contain is unavailable."""
        video = self._videos.get(aweme_id)
        found: VideoDetail | UnavailableVideo = (
            UnavailableVideo(aweme_id=aweme_id, reason="unavailable", filter_reason="not_in_file")
            if video is None
            else VideoDetail(video=self._video(video, "video_page"))
        )
        return self._reading("video_page", aweme_id, found)

    async def fetch_hashtag(self, ch_id: str) -> Reading[HashtagInfo]:
        """Return one hashtag, as its videos name it; its counts are not in the files."""
        tags = (tag for video in self._videos.values() for tag in video.hashtags)
        tag = next((tag for tag in tags if tag.ch_id == ch_id), None)
        if tag is None:
            raise UnresolvedIdError(f"no video in VIDEOS_FILE carries the hashtag {ch_id}")
        info = HashtagInfo(
            ch_id=ch_id, surface="hashtag_info", observed_at=datetime.now(UTC), name=tag.name
        )
        return self._reading("hashtag_info", ch_id, info)

    async def fetch_hashtag_page(self, ch_id: str, cursor: int) -> Reading[VideoPage]:
        """Return one page of the videos under a hashtag."""
        return self._page(
            "hashtag_list",
            ch_id,
            cursor,
            lambda video: any(tag.ch_id == ch_id for tag in video.hashtags),
        )

    async def fetch_trend(self, trends_id: str) -> Reading[VideoPage]:
        """Refuse: the files name no trends.

        Raises:
            ProviderUnsupportedError: Always.
        """
        raise _not_in_files(f"the trend {trends_id}")

    def resume_walk(self, surface: str, entity_id: str) -> None:
        """Do nothing: a list has one source here."""

    async def fetch_search_page(self, term: str, place: SearchPosition) -> Reading[SearchPage]:
        """Raise: the platform's search is not in the files."""
        raise _not_in_files(f"the search for {term!r} from {place.cursor}")

    async def resolve_link(self, url: str) -> LinkTarget:
        """Raise: only the platform resolves short links."""
        raise _not_in_files(f"the short link {url}")

    async def download_sound(self, detail: VideoDetail, into: Path) -> SoundFile:
        """Raise: the files contain no sound. A video is not comparable then, but not rejected."""
        raise AudioUnavailableError(
            f"the video {detail.video.aweme_id} has no sound for {into.name}: files contain none",
            surface="media",
            reason="no_sound_address",
        )

    async def aclose(self) -> None:
        """Do nothing: nothing is open."""

    def _page(
        self, surface: str, entity_id: str, cursor: int, is_of: Callable[[VideoRecord], bool]
    ) -> Reading[VideoPage]:
        found = [video for video in self._videos.values() if is_of(video)]
        # A cursor beyond the end stays where it is, and has nothing after it.
        end = min(cursor + PAGE_SIZE, max(cursor, len(found)))
        page = VideoPage(
            videos=tuple(self._video(video, surface) for video in found[cursor:end]),
            cursor=end,
            has_more=end < len(found),
        )
        return self._reading(surface, entity_id, page)

    def _video(self, video: VideoRecord, surface: str) -> Video:
        music = video.music
        link = self._profile.video_link(video.aweme_id)
        return Video(
            aweme_id=video.aweme_id,
            surface=surface,
            observed_at=datetime.now(UTC),
            desc=video.desc,
            create_time=video.create_time,
            share_url=video.share_url or link,
            media_type=video.media_type,
            is_top=video.is_top,
            author=Author(**video.author.model_dump()),
            music=None if music is None else Music(
                music_id=music.id_str, title=music.title, author=music.author,
                duration_s=music.duration, is_original_sound=music.is_original_sound,
            ),
            duration_ms=video.duration_ms,
            width=video.width,
            height=video.height,
            cover_url=video.cover_url,
            images_count=video.images_count,
            hashtags=tuple(Hashtag(ch_id=tag.ch_id, name=tag.name) for tag in video.hashtags),
            statistics=Statistics(**video.statistics.model_dump()),
        )  # fmt: skip

    def _reading[T](self, surface: str, entity_id: str, value: T) -> Reading[T]:
        return Reading(
            surface=surface,
            entity_id=entity_id,
            value=value,
            payload=b"",
            content_type=None,
            http_status=HTTPStatus.OK,
            source_path=f"file:{surface}",
            fetched_at=datetime.now(UTC),
            request_count=0,
            parser_version=PARSER_VERSION,
        )


def _time(video: VideoRecord) -> int:
    return video.create_time or 0


def _uses(video: VideoRecord, music_id: str) -> bool:
    return video.music is not None and video.music.id_str == music_id


def _not_in_files(what: str) -> ProviderUnsupportedError:
    return ProviderUnsupportedError(f"{what} cannot be answered from files", hint=_SUPPORTED_HINT)


def _account(user: UserRecord, surface: str) -> Account:
    return Account(
        surface=surface,
        observed_at=datetime.now(UTC),
        follower_count_source=None if user.follower_count is None else "follower_count",
        **user.model_dump(),
    )
