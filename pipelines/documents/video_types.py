"""Types of the video record, of the evidence of a pair, and of what a ranking adds."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field

from pipelines.documents.fields import ClosedDocument, Id, OptionalCount, Timestamp
from warehouse.records.evidence import (
    ReferenceKind,
    ReferenceSource,
    RejectionLabel,
    Segment,
    VariantKind,
    Verdict,
)
from warehouse.records.times import CreatedAtSource
from warehouse.records.videos import HOT_SCORE_FORMULA, MediaType

LinkType = Literal["exact_music_id", "audio_fingerprint_match", "verified_music_id_graph"]


Range = Annotated[list[float], Field(min_length=2, max_length=2)]
"""Smallest and largest value."""


class ImageUrls(ClosedDocument):
    """Public URLs of one image."""

    url_list: list[str]


class AuthorDocument(ClosedDocument):
    """The author as shown with a video."""

    sec_uid: str
    uid: str | None
    unique_id: str | None
    nickname: str | None
    avatar_thumb: ImageUrls


class SoundOriginDocument(ClosedDocument):
    """The video that an original sound was born with."""

    aweme_id: Id
    source: Annotated[
        CreatedAtSource,
        Field(description="stated by the platform, or concluded from the times in the ids"),
    ]
    offset_s: Annotated[
        int | None, Field(description="birth of the sound minus that of the video, in seconds")
    ]


class MusicDocument(ClosedDocument):
    """The music as shown with a video.

    Results of earlier versions have neither `created_at` nor `born_with`.
    """

    id_str: Id
    mid: Id
    title: str | None
    author: str | None
    duration: Annotated[int | None, Field(description="seconds")]
    is_original_sound: bool | None
    created_at: NotRequired[
        Annotated[
            Timestamp | None, Field(description="time in the music id; null if not plausible")
        ]
    ]
    created_at_source: NotRequired[CreatedAtSource | None]
    born_with: NotRequired[SoundOriginDocument | None]


class TrackDocument(MusicDocument):
    """The requested track."""

    owner_nickname: str | None
    cover: ImageUrls
    observed_at: Timestamp


class VideoMedia(ClosedDocument):
    """Duration in milliseconds, size in pixels, cover."""

    duration: Annotated[int | None, Field(description="milliseconds")]
    width: int | None
    height: int | None
    cover: ImageUrls


class HashtagDocument(ClosedDocument):
    """A hashtag of a video."""

    ch_id: str
    name: str


class StatisticsDocument(ClosedDocument):
    """The four engagement counts."""

    digg_count: OptionalCount
    comment_count: OptionalCount
    collect_count: OptionalCount
    share_count: OptionalCount


class VideoDocument(ClosedDocument):
    """One observation of a video."""

    aweme_id: Id
    desc: str | None
    create_time: Annotated[int | None, Field(description="unix seconds")]
    created_at: NotRequired[
        Annotated[
            Timestamp | None,
            Field(
                description="publication as the platform states it, else the time in the video's id"
            ),
        ]
    ]
    created_at_source: NotRequired[CreatedAtSource | None]
    created_at_difference_s: NotRequired[
        Annotated[
            int | None,
            Field(description="stated time minus the id's, if they differ by more than a day"),
        ]
    ]
    share_url: str | None
    media_type: Annotated[MediaType | None, Field(description="null: not shown")]
    is_top: Annotated[bool | None, Field(description="pinned by its author; null: not shown")]
    author: AuthorDocument | None
    music: MusicDocument | None
    video: VideoMedia
    images_count: int | None
    hashtags: Annotated[
        list[HashtagDocument] | None,
        Field(description="null: not shown where it was read; empty: it has none"),
    ]
    statistics: StatisticsDocument
    statistics_complete: bool
    statistics_source: Annotated[
        str | None,
        Field(
            description="where the counts come from: public_video_detail_page, list, search, app, "
            "file or mock; null if none is known. Results of earlier versions name the surface"
        ),
    ]
    observed_at: Timestamp
    first_observed_at: Timestamp


class SearchedDocument(ClosedDocument):
    """Edits that a comparison looked for: smallest and largest of each. 1 and 0 are unchanged."""

    speed: Annotated[Range, Field(description="tempo and pitch")]
    tempo: Annotated[Range, Field(description="pitch unchanged")]
    semitones: Annotated[Range, Field(description="tempo unchanged")]
    tempo_with_pitch: Annotated[
        Range, Field(description="tempos searched with any of these shifts")
    ]
    min_overlap_s: Annotated[float, Field(description="shortest common stretch that counts")]
    reference_s: Annotated[float, Field(description="seconds used, from the start of the sound")]
    candidate_s: Annotated[float, Field(description="seconds used, from the start of the sound")]
    min_excerpt_s: NotRequired[
        Annotated[
            float | None, Field(description="the same for an excerpt; null: none was searched")
        ]
    ]


class EvidenceDocument(ClosedDocument):
    """One compared pair. Lower distances and higher scores are better."""

    comparison_id: str
    reference_kind: Annotated[
        ReferenceKind,
        Field(description="what the candidate was compared with: a video, or a song's own audio"),
    ]
    reference_aweme_id: Annotated[Id | None, Field(description="null unless it is a video")]
    reference_service_track_id: Annotated[
        Id | None, Field(description="the song of the music service; null if it is a video")
    ]
    candidate_aweme_id: Id
    reference_music_id: Id
    candidate_music_id: Id
    verdict: Verdict
    reason: str
    segment: Segment | None
    chroma_distance: float | None
    mfcc_distance: float | None
    overlap_s: float | None
    reference_start_s: float | None
    candidate_start_s: float | None
    peak_agreement: float | None
    score: float | None
    speed: float | None
    semitones: float | None
    observation: NotRequired[
        Annotated[
            RejectionLabel | None,
            Field(description="likely nature of a rejected pair; never a confirmation"),
        ]
    ]
    searched: NotRequired[
        Annotated[
            SearchedDocument | None,
            Field(
                description="what was looked for; a rejection says nothing about anything beyond. "
                "null: not compared, or not recorded"
            ),
        ]
    ]
    limits: dict[str, float]
    algorithm: str
    feature_version: str
    library_version: str
    reference_source: NotRequired[
        Annotated[
            ReferenceSource,
            Field(description="music_service: the reference is a song's own audio"),
        ]
    ]


class LinkedVideo(VideoDocument):
    """A confirmed video with its link to the track, as a result stores it."""

    link_type: LinkType
    source_music_id: Id
    source_channel_zh: str
    source_music_title: str | None
    source_music_url: str | None
    evidence: NotRequired[Annotated[EvidenceDocument, Field(description="only for links by audio")]]


class RankedVideo(LinkedVideo):
    """A confirmed video with its rank in the requested order."""

    rank: Annotated[int, Field(ge=1)]
    hot_score: Annotated[int | None, Field(description=f"{HOT_SCORE_FORMULA}; null: unknown")]
    is_viral: bool


class ShiftedVideo(VideoDocument):
    """A video with the recording changed, or a few seconds of it, as a result stores it."""

    variant_kind: VariantKind
    speed: Annotated[float, Field(description="tempo relative to the track")]
    semitones: Annotated[float, Field(description="pitch shift relative to the track")]
    source_music_id: Id
    source_music_title: str | None
    source_music_url: str | None
    evidence: EvidenceDocument


class VariantVideo(ShiftedVideo):
    """A video with the recording changed, or a few seconds of it, ranked like the main list."""

    rank: Annotated[int, Field(ge=1)]
    hot_score: int | None
    is_viral: bool


class VideoPreview(ClosedDocument):
    """A short record of an account's video."""

    aweme_id: Id
    desc: str | None
    create_time: int | None
    share_url: str | None
    link_type: LinkType
    statistics: StatisticsDocument
