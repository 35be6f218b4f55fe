"""Schemas for the video record and the fields that a ranking adds."""

from typing import Annotated, Literal

from pydantic import Field

from api.schemas.base_models import Id, OptionalCount, ResponseModel, Timestamp

CreatedAtSource = Literal["stated", "id"]
LinkType = Literal["exact_music_id", "audio_fingerprint_match", "verified_music_id_graph"]


class ImageUrls(ResponseModel):
    """Public URLs of one image."""

    url_list: list[str]


class AuthorDocument(ResponseModel):
    """The author as shown with a video."""

    sec_uid: str
    uid: str | None
    unique_id: str | None
    nickname: str | None
    avatar_thumb: ImageUrls


class SoundOriginDocument(ResponseModel):
    """The video that an original sound was born with."""

    aweme_id: Id
    source: Annotated[
        CreatedAtSource,
        Field(description="stated by the platform, or concluded from the times in the ids"),
    ]
    offset_s: Annotated[
        int | None, Field(description="birth of the sound minus that of the video, in seconds")
    ]


class MusicDocument(ResponseModel):
    """The music as shown with a video."""

    id_str: Id
    mid: Id
    title: str | None
    author: str | None
    duration: Annotated[int | None, Field(description="seconds")]
    is_original_sound: bool | None
    created_at: Annotated[
        Timestamp | None, Field(description="time in the music id; null if not plausible")
    ] = None
    created_at_source: CreatedAtSource | None = None
    born_with: SoundOriginDocument | None = None


class TrackDocument(MusicDocument):
    """The requested track."""

    owner_nickname: str | None
    cover: ImageUrls
    observed_at: Timestamp


class VideoMedia(ResponseModel):
    """Duration in milliseconds, size in pixels, cover."""

    duration: Annotated[int | None, Field(description="milliseconds")]
    width: int | None
    height: int | None
    cover: ImageUrls


class HashtagDocument(ResponseModel):
    """A hashtag of a video."""

    ch_id: str
    name: str


class StatisticsDocument(ResponseModel):
    """The four engagement counts."""

    digg_count: OptionalCount
    comment_count: OptionalCount
    collect_count: OptionalCount
    share_count: OptionalCount


class VideoDocument(ResponseModel):
    """One observation of a video."""

    aweme_id: Id
    desc: str | None
    create_time: Annotated[int | None, Field(description="unix seconds")]
    created_at: Annotated[
        Timestamp | None,
        Field(description="publication as the platform states it, else the time in the video's id"),
    ] = None
    created_at_source: CreatedAtSource | None = None
    created_at_difference_s: Annotated[
        int | None,
        Field(description="stated time minus the id's, if they differ by more than a day"),
    ] = None
    share_url: str | None
    media_type: Literal["video", "photo"] | None
    is_top: bool | None
    author: AuthorDocument | None
    music: MusicDocument | None
    video: VideoMedia
    images_count: int | None
    hashtags: list[HashtagDocument]
    statistics: StatisticsDocument
    statistics_complete: bool
    statistics_source: str | None
    observed_at: Timestamp
    first_observed_at: Timestamp


class EvidenceDocument(ResponseModel):
    """One compared pair. Lower distances and higher scores are better."""

    comparison_id: str
    reference_aweme_id: Id
    candidate_aweme_id: Id
    reference_music_id: Id
    candidate_music_id: Id
    verdict: Literal["confirmed", "variant", "rejected", "not_comparable"]
    reason: str
    segment: Literal["whole", "local"] | None
    chroma_distance: float | None
    mfcc_distance: float | None
    overlap_s: float | None
    reference_start_s: float | None
    candidate_start_s: float | None
    peak_agreement: float | None
    score: float | None
    speed: float | None
    semitones: float | None
    observation: Annotated[
        Literal["likely_cover", "uncertain"] | None,
        Field(description="likely nature of a rejected pair; never a confirmation"),
    ] = None
    limits: dict[str, float]
    algorithm: str
    feature_version: str
    library_version: str


class RankedVideo(VideoDocument):
    """A confirmed video with its rank in the requested order."""

    rank: Annotated[int, Field(ge=1)]
    hot_score: Annotated[
        int | None, Field(description="likes + 4 comments + 3 collects + 8 shares; null: unknown")
    ]
    is_viral: bool
    link_type: LinkType
    source_music_id: Id
    source_channel_zh: str
    source_music_title: str | None
    source_music_url: str | None
    evidence: Annotated[EvidenceDocument, Field(description="only for links by audio")] | None = (
        None
    )


class VariantVideo(VideoDocument):
    """A video with the recording at another speed or pitch, ranked like the main list."""

    rank: Annotated[int, Field(ge=1)]
    hot_score: int | None
    is_viral: bool
    variant_kind: Literal["speed", "tempo", "pitch"]
    speed: Annotated[float, Field(description="tempo relative to the track")]
    semitones: Annotated[float, Field(description="pitch shift relative to the track")]
    source_music_id: Id
    source_music_title: str | None
    source_music_url: str | None
    evidence: EvidenceDocument


class VideoPreview(ResponseModel):
    """A short record of an account's video."""

    aweme_id: Id
    desc: str | None
    create_time: int | None
    share_url: str | None
    link_type: LinkType
    statistics: StatisticsDocument
