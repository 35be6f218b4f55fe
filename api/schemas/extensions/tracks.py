"""Schemas for the page of a track."""

from typing import Annotated

from pydantic import Field

from api.schemas.chart import Day
from api.schemas.extensions.exports import NoteDocument
from pipelines.documents.fields import ClosedDocument, Count, Id, OptionalCount, Timestamp
from pipelines.documents.result_types import TrackDocument

_EXACT = Annotated[bool | None, Field(description="false if the count was shown rounded")]
_STEP = Annotated[
    int | None, Field(description="step it was rounded to; null: exact, or not shown")
]


class TrackMusicId(ClosedDocument):
    """A music id that carries the recording, with the platform's newest count of its videos."""

    music_id: Id
    title: str | None
    artist: str | None
    is_original_sound: Annotated[bool | None, Field(description="uploaded by a user")]
    created_at: Annotated[Timestamp | None, Field(description="time in the music id")]
    confirmed_video_count: Count
    use_count: OptionalCount
    use_count_exact: _EXACT
    use_count_step: _STEP
    use_count_observed_at: Timestamp | None


class TrackMusicIds(ClosedDocument):
    """Music ids of one kind, and the sum of the counts that were observed."""

    music_ids: list[TrackMusicId]
    music_id_count: Count
    counted_music_id_count: Annotated[
        int, Field(ge=0, description="music ids with an observed count; the others are unknown")
    ]
    use_count: Annotated[
        OptionalCount, Field(description="sum of the observed counts; null: none was observed")
    ]
    use_count_exact: _EXACT


class MusicIdsByKind(ClosedDocument):
    """Music ids of a track: official releases, sounds that users made, and of unknown kind."""

    official: TrackMusicIds
    user_made: TrackMusicIds
    unknown: TrackMusicIds


class UsagePoint(ClosedDocument):
    """The platform's own count on one day (UTC), the last one observed. Nothing is interpolated."""

    day: Day
    use_count: Count
    use_count_exact: _EXACT
    use_count_step: _STEP
    range: Annotated[
        list[int] | None,
        Field(description="where a rounded count lies, whatever the rounding; null: exact"),
    ]
    use_count_observed_at: Timestamp
    previous_date: Annotated[Day | None, Field(description="last earlier day with a count")]
    uses_gained: Annotated[
        int | None, Field(description="since then; of rounded counts, off by up to a step")
    ]


class TrackVideoPoint(ClosedDocument):
    """How many videos of the track we knew by the end of a day (UTC) with a read."""

    day: Day
    observed_video_count: Annotated[
        int, Field(ge=0, description="videos under its music ids, and all confirmed ones")
    ]
    confirmed_video_count: Count


class TrackScan(ClosedDocument):
    """One scan, compared with the scan before it; what changed is null for the first one."""

    job_id: str
    previous_job_id: str | None
    concluded_at: Timestamp
    has_result: Annotated[bool, Field(description="false: its result was deleted after its time")]
    confirmed_video_count: Count
    music_id_count: Count
    digg_count: Annotated[OptionalCount, Field(description="likes of the confirmed videos")]
    new_video_count: OptionalCount
    gone_video_count: OptionalCount
    new_music_id_count: OptionalCount
    risen_video_count: Annotated[OptionalCount, Field(description="videos with a better rank")]
    fallen_video_count: Annotated[OptionalCount, Field(description="videos with a lower rank")]


class TrackCreator(ClosedDocument):
    """An account with confirmed videos, and its first one."""

    sec_uid: str
    nickname: str | None
    unique_id: str | None
    follower_count: OptionalCount
    confirmed_video_count: Count
    digg_count: Annotated[OptionalCount, Field(description="likes of these videos")]
    first_aweme_id: Id | None
    first_created_at: Timestamp | None


class TrackRegion(ClosedDocument):
    """Accounts that show one region on their profile; null: unknown, mostly not read."""

    ip_location: str | None
    account_count: Count


class TrackVariant(ClosedDocument):
    """A video with the recording at another speed or pitch, or a few seconds of it."""

    aweme_id: Id
    kind: str
    speed: float
    semitones: float
    desc: str | None
    nickname: str | None
    sec_uid: str | None
    digg_count: OptionalCount


class TrackVariants(ClosedDocument):
    """Variants that any scan matched; `videos` are the most liked ones."""

    count: Count
    by_kind: dict[str, int]
    videos: list[TrackVariant]


class TrackUsage(ClosedDocument):
    """The platform's count of the videos with the track's own music id, oldest day first."""

    points: list[UsagePoint]
    returned_count: Count


class TrackPage(ClosedDocument):
    """All that is stored of a track. Nothing is requested from the platform."""

    music_id: Id
    title: str | None
    artist: str | None
    music: Annotated[
        TrackDocument | None, Field(description="as last observed; null: its page was never read")
    ]
    music_ids: MusicIdsByKind
    use_count: Annotated[
        OptionalCount, Field(description="sum of the observed counts of all its music ids")
    ]
    use_count_exact: _EXACT
    uncounted_music_id_count: Annotated[
        int, Field(ge=0, description="music ids that this sum lacks")
    ]
    usage: TrackUsage
    videos: list[TrackVideoPoint]
    scans: list[TrackScan]
    account_count: Annotated[int, Field(ge=0, description="accounts with confirmed videos")]
    first_creators: list[TrackCreator]
    biggest_creators: list[TrackCreator]
    regions: list[TrackRegion]
    variants: TrackVariants
    note: NoteDocument | None
    coverage_complete: Annotated[bool, Field(description="always false")]
    is_demo_data: bool
