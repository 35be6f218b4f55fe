"""Provider `file`: users and videos from two JSON files of the operator. Nothing is contacted.

It serves what the files contain: accounts, videos, posts of an account, and the videos of a music
id or a hashtag. It invents nothing.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from pipelines.platform.parsers.links import LinkTarget
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers.file import records
from pipelines.platform.providers.provider import LocalProvider, ProviderDependencies
from pipelines.platform.sources.table import Reading, SoundFile, SourceRequest
from warehouse.records import errors
from warehouse.records import videos as video_records
from warehouse.records.search import SearchPage

_SUPPORTED_HINT = "files provide accounts, videos, and videos by account, music id or hashtag"


def build(name: str, dependencies: ProviderDependencies) -> "FileProvider":
    """Build the source over the configured files.

    Raises:
        ProviderUnsupportedError: No file is configured.
        InvalidParameterError: A file cannot be read, or a record in it is invalid.
    """
    settings = dependencies.settings
    if settings.users_file is None and settings.videos_file is None:
        raise errors.ProviderUnsupportedError(
            "no file is configured", hint=f"set USERS_FILE and VIDEOS_FILE; {records.GUIDE}"
        )
    return FileProvider(
        records.read_users(settings.users_file),
        records.read_videos(settings.videos_file),
        profile=dependencies.profile,
        name=name,
    )


class FileProvider(LocalProvider):
    """Two files as a source.

    Args:
        users: Accounts.
        videos: Videos.
        profile: Forms of links; nothing there is contacted.
        name: Name of this source in rows.
    """

    parser_version = "file-2"

    def __init__(
        self,
        users: Iterable[records.UserRecord],
        videos: Iterable[video_records.Video],
        *,
        profile: PlatformProfile,
        name: str,
    ) -> None:
        super().__init__(profile=profile, name=name)
        self._users = {user.sec_uid: user for user in users}
        # In the order in which the platform lists posts: pinned ones first.
        newest_first = sorted(
            videos, key=lambda video: (not video.is_top, -(video.create_time or 0))
        )
        self._videos = {video.aweme_id: video for video in newest_first}

    @property
    def answers(self) -> Mapping[str, Callable[[SourceRequest], Reading[object]]]:
        """Return the answering methods."""
        return {
            "track": self.answer_track,
            "music_list": self.answer_music_page,
            "posts": self.answer_author_page,
            "profile": self.answer_account,
            "handle": self.answer_account_by_handle,
            "detail": self.answer_detail,
            "hashtag": self.answer_hashtag,
            "hashtag_list": self.answer_hashtag_page,
            "search": self.answer_search_page,
        }

    def answer_track(self, request: SourceRequest) -> Reading[video_records.Track]:
        """Return one music id, as the videos that use it describe it."""
        music_id = request.entity_id
        # A file has no tracks; each video that uses one describes it.
        music = next((v.music for v in self._videos.values() if _uses(v, music_id)), None)
        if music is None:
            raise errors.InvalidMusicInputError(
                f"no video in VIDEOS_FILE uses the music id {music_id}", hint=records.GUIDE
            )
        track = video_records.Track(
            music_id=music_id,
            surface="music_info",
            observed_at=datetime.now(UTC),
            title=music.title,
            author=music.author,
            duration_s=music.duration_s,
            is_original_sound=music.is_original_sound,
        )
        return self.reading("music_info", music_id, track)

    def answer_music_page(self, request: SourceRequest) -> Reading[video_records.VideoPage]:
        """Return one page of the videos that use a music id."""
        return self._page("music_list", request, lambda video: _uses(video, request.entity_id))

    def answer_author_page(self, request: SourceRequest) -> Reading[video_records.VideoPage]:
        """Return one page of posts: pinned ones first, then the newest."""

        def is_by(video: video_records.Video) -> bool:
            return video.author is not None and video.author.sec_uid == request.entity_id

        return self._page("user_posts", request, is_by)

    def answer_account(self, request: SourceRequest) -> Reading[video_records.Account]:
        """Return one account of `USERS_FILE`."""
        user = self._users.get(request.entity_id)
        if user is None:
            raise errors.UnresolvedIdError(
                "USERS_FILE contains no such account", hint=records.GUIDE
            )
        return self.reading("user_info", request.entity_id, _account(user, "user_info"))

    def answer_account_by_handle(self, request: SourceRequest) -> Reading[video_records.Account]:
        """Return the account with a handle, in whichever case it is written."""
        handle = request.entity_id.removeprefix("@").casefold()
        for user in self._users.values():
            if (user.unique_id or "").casefold() == handle:
                account = _account(user, "user_by_handle")
                return self.reading("user_by_handle", request.entity_id, account)
        raise errors.UnresolvedIdError(
            "USERS_FILE contains no account with this handle", hint=records.GUIDE
        )

    def answer_detail(
        self, request: SourceRequest
    ) -> Reading[video_records.Video | video_records.Unavailability]:
        """Return one video; one that the file does not contain is unavailable."""
        aweme_id = request.entity_id
        video = self._videos.get(aweme_id)
        detail: video_records.Video | video_records.Unavailability
        if video is None:
            detail = video_records.Unavailability(reason="unavailable", filter_reason="not_in_file")
        else:
            detail = self._observed(video, "video_page")
        return self.reading("video_page", aweme_id, detail)

    def answer_hashtag(self, request: SourceRequest) -> Reading[video_records.HashtagInfo]:
        """Return one hashtag, as its videos name it; its counts are not in the files."""
        ch_id = request.entity_id
        tags = (tag for video in self._videos.values() for tag in video.hashtags or ())
        tag = next((tag for tag in tags if tag.ch_id == ch_id), None)
        if tag is None:
            raise errors.UnresolvedIdError(f"no video in VIDEOS_FILE carries the hashtag {ch_id}")
        info = video_records.HashtagInfo(
            ch_id=ch_id, surface="hashtag_info", observed_at=datetime.now(UTC), name=tag.name
        )
        return self.reading("hashtag_info", ch_id, info)

    def answer_hashtag_page(self, request: SourceRequest) -> Reading[video_records.VideoPage]:
        """Return one page of the videos with a hashtag."""

        def has_hashtag(video: video_records.Video) -> bool:
            return any(tag.ch_id == request.entity_id for tag in video.hashtags or ())

        return self._page("hashtag_list", request, has_hashtag)

    def answer_search_page(self, request: SourceRequest) -> Reading[SearchPage]:
        """Raise: the platform's search is not in the files."""
        raise _not_in_files(f"the search for {request.entity_id!r} from {request.place.cursor}")

    async def fetch_trend(self, trends_id: str, cursor: int) -> Reading[video_records.VideoPage]:
        """Refuse: the files name no trends.

        Raises:
            ProviderUnsupportedError: Always.
        """
        raise _not_in_files(f"the trend {trends_id} from {cursor}")

    async def resolve_link(self, url: str) -> LinkTarget:
        """Raise: only the platform resolves short links."""
        raise _not_in_files(f"the short link {url}")

    async def download_sound(self, video: video_records.Video, into: Path) -> SoundFile:
        """Raise: the files contain no sound. A video is not comparable then, but not rejected."""
        raise errors.AudioUnavailableError(
            f"the video {video.aweme_id} has no sound for {into.name}: files contain none",
            surface="media",
            reason="no_sound_address",
        )

    def _page(
        self, surface: str, request: SourceRequest, is_of: Callable[[video_records.Video], bool]
    ) -> Reading[video_records.VideoPage]:
        # The cursor is a position in the list, so a page ends where the next one begins.
        listed = [video for video in self._videos.values() if is_of(video)]
        end = self.end_of_page(request.cursor, len(listed))
        page = video_records.VideoPage(
            videos=tuple(self._observed(video, surface) for video in listed[request.cursor : end]),
            cursor=end,
            has_more=end < len(listed),
        )
        return self.reading(surface, request.entity_id, page)

    def _observed(self, video: video_records.Video, surface: str) -> video_records.Video:
        """Return a video of the file as a surface shows it now."""
        link = video.share_url or self._profile.video_link(video.aweme_id)
        return replace(video, surface=surface, observed_at=datetime.now(UTC), share_url=link)


def _uses(video: video_records.Video, music_id: str) -> bool:
    return video.music is not None and video.music.music_id == music_id


def _not_in_files(what: str) -> errors.ProviderUnsupportedError:
    return errors.ProviderUnsupportedError(
        f"{what} cannot be answered from files", hint=_SUPPORTED_HINT
    )


def _account(user: records.UserRecord, surface: str) -> video_records.Account:
    return video_records.Account(
        surface=surface,
        observed_at=datetime.now(UTC),
        follower_count_source=None if user.follower_count is None else "follower_count",
        **user.model_dump(),
    )
