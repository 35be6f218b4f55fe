"""Videos: author, sound, time, counts, and visibility to guests.

The table of videos is a set of arrays (a large world has 200,000); `SandboxVideo` is one row of it.
"""

from dataclasses import dataclass
from enum import IntEnum

from pipelines.sandbox.world.content.sounds import Flags
from pipelines.sandbox.world.random_streams import Ints


class VideoState(IntEnum):
    """Visibility of a video."""

    PUBLIC = 0
    DELETED = 1
    PRIVATE = 2
    REVIEWING = 3


class Alteration(IntEnum):
    """What a video plays instead of the sound of its music id."""

    NONE = 0
    MUTED = 1
    REPLACED = 2
    LIVE = 3
    VOICED_OVER = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxVideo:
    """One video or photo post.

    Attributes:
        index: Row in the table of videos.
        aweme_id: Its public id.
        sound: Row of its sound.
        account: Row of its author.
        create_time: Unix seconds.
        digg_count: Likes; the other three counts likewise.
        comment_count: Comments.
        collect_count: Bookmarks.
        share_count: Shares.
        state: Its visibility.
        is_listed: True if list surfaces show it; some hidden videos are still listed.
        is_pinned: Pinned by its author.
        is_photo: A photo post; its sound comes as MP3.
        is_silent: Its sound is the platform's silent placeholder.
        named_score: Composition whose title the caption names, -1 for none.
        is_tagged: The title is named as a hashtag.
        alteration: How its own sound differs from that of its music id.
        replacement: Composition that is heard where its sound was replaced, else -1.
    """

    index: int
    aweme_id: str
    sound: int
    account: int
    create_time: int
    digg_count: int
    comment_count: int
    collect_count: int
    share_count: int
    state: VideoState
    is_listed: bool
    is_pinned: bool
    is_photo: bool
    is_silent: bool
    named_score: int
    is_tagged: bool
    alteration: Alteration
    replacement: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoTable:
    """All videos of a world; names as in `SandboxVideo`."""

    aweme_id: Ints
    sound: Ints
    account: Ints
    create_time: Ints
    digg_count: Ints
    comment_count: Ints
    collect_count: Ints
    share_count: Ints
    state: Ints
    is_listed: Flags
    is_pinned: Flags
    is_photo: Flags
    is_silent: Flags
    named_score: Ints
    is_tagged: Flags
    alteration: Ints
    replacement: Ints

    def __len__(self) -> int:
        return int(self.aweme_id.size)

    def row(self, index: int) -> SandboxVideo:
        """One video as a record."""
        return SandboxVideo(
            index=index,
            aweme_id=str(self.aweme_id[index]),
            sound=int(self.sound[index]),
            account=int(self.account[index]),
            create_time=int(self.create_time[index]),
            digg_count=int(self.digg_count[index]),
            comment_count=int(self.comment_count[index]),
            collect_count=int(self.collect_count[index]),
            share_count=int(self.share_count[index]),
            state=VideoState(int(self.state[index])),
            is_listed=bool(self.is_listed[index]),
            is_pinned=bool(self.is_pinned[index]),
            is_photo=bool(self.is_photo[index]),
            is_silent=bool(self.is_silent[index]),
            named_score=int(self.named_score[index]),
            is_tagged=bool(self.is_tagged[index]),
            alteration=Alteration(int(self.alteration[index])),
            replacement=int(self.replacement[index]),
        )
