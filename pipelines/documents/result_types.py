"""Types of the result of a scan: what is stored of it, and its view for one request."""

from typing import Annotated, Literal, NotRequired, final

from pydantic import Field

from pipelines.documents.fields import ClosedDocument, Count, Id, OptionalCount, Timestamp
from warehouse.records import coverage as coverage_records
from warehouse.records import evidence as evidence_records
from warehouse.records.times import CreatedAtSource
from warehouse.records.videos import HOT_SCORE_FORMULA, FollowerCountSource, MediaType

# Types of the video record, of the evidence of a pair, and of what a ranking adds.

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

    Results of earlier versions have neither `created_at` nor `born_with`, nor a usage count.
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
    use_count: NotRequired[
        Annotated[
            OptionalCount,
            Field(description="videos with this music id as counted by the platform; null: hidden"),
        ]
    ]
    use_count_exact: NotRequired[
        Annotated[bool | None, Field(description="false if that count was shown rounded")]
    ]
    use_count_observed_at: NotRequired[Timestamp | None]


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
    """One compared pair. Lower distances and higher scores are better.

    `relation`: `same_recording` (confirmed), `variant`, `version` (another performance, by its
    `version_score`), `shares_part` (only `shared_part` is the same); null if nothing links them.
    """

    comparison_id: str
    reference_kind: Annotated[
        evidence_records.ReferenceKind,
        Field(description="what the candidate was compared with: a video, or a song's own audio"),
    ]
    reference_aweme_id: Annotated[Id | None, Field(description="null unless it is a video")]
    reference_service_track_id: Annotated[
        Id | None, Field(description="the song of the music service; null if it is a video")
    ]
    candidate_aweme_id: Id
    reference_music_id: Id
    candidate_music_id: Id
    verdict: evidence_records.Verdict
    reason: str
    segment: evidence_records.Segment | None
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
            evidence_records.RejectionLabel | None,
            Field(description="likely nature of a rejected pair; never a confirmation"),
        ]
    ]
    relation: NotRequired[evidence_records.EvidenceRelation | None]
    shared_part: NotRequired[evidence_records.SharedPart | None]
    version_score: NotRequired[float | None]
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
            evidence_records.ReferenceSource,
            Field(description="music_service: the reference is a song's own audio"),
        ]
    ]


AudioCheckKind = Literal["compared", "reference", "same_sound", "not_compared"]
"""How much of a video's own sound a scan has measured; `AUDIO_CHECKS` has what each means."""


class AudioCheck(ClosedDocument):
    """Whether the sound of a video itself was compared, and the pair that shows it.

    Derived from the compared pairs of the scan when a result is read, so it agrees with them.
    """

    kind: Annotated[
        AudioCheckKind,
        Field(
            description="compared: the pair is its own; reference: others were compared with it; "
            "same_sound: the pair is that of another video of its music id; not_compared: no pair"
        ),
    ]
    verdict: Annotated[
        evidence_records.Verdict | None, Field(description="the verdict of the pair")
    ]
    comparison_id: Annotated[str | None, Field(description="the pair; null: not_compared")]


class LinkedVideo(VideoDocument):
    """A confirmed video with its link to the track, as a result stores it."""

    link_type: LinkType
    source_music_id: Id
    source_channel_zh: str
    source_music_title: str | None
    source_music_url: str | None
    evidence: NotRequired[Annotated[EvidenceDocument, Field(description="only for links by audio")]]
    audio_check: NotRequired[AudioCheck]


class RankedVideo(LinkedVideo):
    """A confirmed video with its rank in the requested order."""

    rank: Annotated[int, Field(ge=1)]
    hot_score: Annotated[int | None, Field(description=f"{HOT_SCORE_FORMULA}; null: unknown")]
    is_viral: bool


class ShiftedVideo(VideoDocument):
    """A video with the recording changed, or a few seconds of it, as a result stores it."""

    variant_kind: evidence_records.VariantKind
    speed: Annotated[float, Field(description="tempo relative to the track")]
    semitones: Annotated[float, Field(description="pitch shift relative to the track")]
    source_music_id: Id
    source_music_title: str | None
    source_music_url: str | None
    evidence: EvidenceDocument
    audio_check: NotRequired[AudioCheck]


class VersionVideo(VideoDocument):
    """A video with another performance of the composition: a cover, live, recorded again."""

    version_score: Annotated[float, Field(ge=0, le=1)]
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


Source = Literal["music", "search", "accounts"]
"""The sources of a scan: music lists and their expansion, the guest search, account profiles."""

SearchRelevance = Literal[
    "exact_title", "music_id_corroborated", "conflicting_music_title", "expanded_candidate"
]
AssociationType = Literal["audio_fingerprint_match", "exact_music_id_discovered"]
TitleRelation = Literal["names_the_song", "none"]


class AccountEntry(ClosedDocument):
    """An account with confirmed videos. Profile fields are null until the profile is read.

    `follower_count_source` is the platform's field that held the number; absent in results of
    earlier versions.
    """

    sec_uid: str
    nickname: str | None
    unique_id: str | None
    follower_count: OptionalCount
    follower_count_source: NotRequired[FollowerCountSource | None]
    total_favorited: OptionalCount
    aweme_count: OptionalCount
    profile_complete: bool
    linked_video_count: Count
    linked_digg_count: OptionalCount
    linked_comment_count: OptionalCount
    linked_collect_count: OptionalCount
    linked_share_count: OptionalCount
    linked_statistics_complete: bool
    top_video: VideoPreview
    video_previews: list[VideoPreview]


class AccountSummary(ClosedDocument):
    """Accounts of all confirmed videos, not only the returned ones."""

    accounts: list[AccountEntry]
    video_preview_limit: int
    account_count: Count
    account_count_complete: bool


class SearchTerm(ClosedDocument):
    """Outcome of one search term and its stop reason."""

    term: str
    pages: Count
    items: Count
    new_items: Count
    last_cursor: int | None
    finished: bool
    stop_reason: str


class SearchPagination(ClosedDocument):
    """Extent of the guest search."""

    pages_fetched: Count
    terms_paginated: Count
    terms: list[SearchTerm]
    request_budget: Count
    requests_used: Count


class FoundVideo(VideoDocument):
    """A search result with the reason why it belongs to the song, as a result stores it."""

    hot_score: int | None
    search_relevance_level: SearchRelevance
    search_terms: Annotated[list[str], Field(description="terms that found the video")]


class RelatedVideo(FoundVideo):
    """A search result in the view of one request."""

    duplicate_with_returned_ranking: Annotated[
        bool, Field(description="the video is also in the returned ranking")
    ]


class SearchCounts(ClosedDocument):
    """Counts of search results, and the extent of the search."""

    returned_count: Count
    high_relevance_count: Count
    conflicting_music_title_count: Count
    expanded_candidate_count: Count
    visible_ranking_overlap_count: Count
    pagination: SearchPagination


class StoredSearch(SearchCounts):
    """Search results as a result stores them."""

    aweme_list: list[FoundVideo]


class SearchRelated(SearchCounts):
    """Videos related by search text only; they never count as confirmed."""

    aweme_list: list[RelatedVideo]


class VariantCounts(ClosedDocument):
    """How many variants were found."""

    count: Count
    by_kind: dict[evidence_records.VariantKind, Count]


class StoredVariants(VariantCounts):
    """Variants as a result stores them, in any order."""

    aweme_list: list[ShiftedVideo]


VariantForm = Literal["sped_up", "slowed_down", "pitch", "excerpt"]
"""What users call a variant, whatever else changed with its speed."""


class HotterVariants(ClosedDocument):
    """Variants whose hot score is above that of every confirmed video."""

    count: Count
    by_form: dict[VariantForm, Count]
    hot_scores: Annotated[list[int], Field(description="the three highest, the highest first")]


class Variants(VariantCounts):
    """Videos with the recording changed, or a few seconds of it, as a separate result."""

    aweme_list: list[VariantVideo]
    hotter: HotterVariants


class Versions(ClosedDocument):
    """Videos with another performance, the surest first; never confirmed, ranked or in totals."""

    count: Count
    aweme_list: list[VersionVideo]


class SourceCoverageDocument(ClosedDocument):
    """One source: requests, items and the stop reason.

    `foreign_rows` are items of a list that stated another account, hashtag or music id than the
    list's, and are left out of it; absent in results of earlier versions.
    """

    surface: str
    requests: Count
    pages: Count
    items: Count
    new_items: Count
    stop_reason: str
    foreign_rows: NotRequired[Count]


class UnseenEstimate(ClosedDocument):
    """Lower bound of the music ids that carry the recording and were not seen."""

    method: str
    unit: str
    lower_bound: Count
    observed: Count
    met_once: Count
    met_twice: Count
    note: str


class CoverageEstimateDocument(ClosedDocument):
    """How many there are for a guest to reach, estimated; null where it cannot be estimated.

    `listed` is absent in results of earlier versions.
    """

    observed: Annotated[Count, Field(description="confirmed by this scan")]
    listed: NotRequired[
        Annotated[Count, Field(description="listed under confirmed music ids, and not compared")]
    ]
    source_count: Annotated[Count, Field(description="sources other than music lists")]
    sample_size: Annotated[Count, Field(description="confirmed videos that these sources showed")]
    method: coverage_records.EstimateMethod | None
    point: Annotated[float | None, Field(ge=0, description="the estimated number")]
    interval_95: Annotated[
        list[int] | None,
        Field(min_length=2, max_length=2, description="lower and upper limit, 95 % confidence"),
    ]
    sample_coverage: Annotated[
        float | None, Field(ge=0, le=1, description="estimated share that known music ids hold")
    ]
    assumption: coverage_records.EstimateAssumption | None
    reason: Annotated[
        coverage_records.NotEstimated | None, Field(description="why there is no estimate")
    ]
    note: Annotated[str, Field(description="the estimate as a sentence")]


class CoverageEstimates(ClosedDocument):
    """Estimates of what a guest could reach with the recording. They are no counts."""

    music_ids: CoverageEstimateDocument
    videos: CoverageEstimateDocument


class AuditedVideoDocument(ClosedDocument):
    """A video that was drawn at random, and what its sound says."""

    aweme_id: Id
    music_id: str | None
    verdict: coverage_records.AuditVerdict
    reason: str | None
    comparison_id: Annotated[str | None, Field(description="the evidence, if it was compared")]


class RandomAuditDocument(ClosedDocument):
    """Videos that were seen and not chosen as candidates, some of which were compared at random.

    Those that carry the recording are not ranked: the next scan draws others.
    """

    seed: Annotated[str, Field(description="decides the draw: the id of the job")]
    pool: Annotated[Count, Field(description="videos seen that are no candidates")]
    drawn: Annotated[Count, Field(description="videos drawn at random among these")]
    compared: Annotated[Count, Field(description="drawn videos whose sound was compared")]
    found: Annotated[Count, Field(description="compared videos that carry the recording")]
    upper_bound_share: Annotated[
        float | None, Field(ge=0, le=1, description="at most this share carries it")
    ]
    upper_bound_count: Annotated[int | None, Field(ge=0, description="at most so many carry it")]
    confidence: Annotated[float, Field(ge=0, le=1, description="how often such a limit is true")]
    reason: Annotated[
        coverage_records.NotAudited | None, Field(description="why there is no limit")
    ]
    videos: list[AuditedVideoDocument]
    note: Annotated[str, Field(description="the audit as a sentence")]


class ListGenuineShareDocument(ClosedDocument):
    """One music list: rows whose music is known, and those that use the list's music id.

    `audio_rows` were confirmed by audio, whichever music id they use, or are references that a
    candidate matched: a scan compares few of the rows that use the track's own. It is absent in
    results of earlier versions.
    """

    music_id: Id
    rows: Count
    own_rows: Count
    audio_rows: NotRequired[Count]


class SourceDecisionDocument(ClosedDocument):
    """What the planner decided about one source of a question.

    `latest_answers` and `latest_refusals` are absent in results of earlier versions.
    """

    question: str
    surface: str
    tried: Count
    answered: Count
    left_closed: Annotated[int, Field(ge=0, description="its circuit was open")]
    left_sick: Annotated[int, Field(ge=0, description="it rarely answers")]
    left_held_back: Annotated[int, Field(ge=0, description="another source was refused")]
    latest_answers: NotRequired[
        Annotated[int, Field(ge=0, description="its latest answers, to any job")]
    ]
    latest_refusals: NotRequired[
        Annotated[int, Field(ge=0, description="how many of `latest_answers` were refusals")]
    ]


class AuditPart(ClosedDocument):
    """The part of `coverage` that a discovery does not have."""

    audit: NotRequired[RandomAuditDocument]


class Coverage(AuditPart):
    """What was read and what was not. Estimates are never mixed into counts.

    `decisions`, `list_genuine_share`, `estimates` and `audit` are absent in results of earlier
    versions, `audit` also in discoveries.
    """

    sources: list[SourceCoverageDocument]
    decisions: NotRequired[list[SourceDecisionDocument]]
    not_reached: Annotated[list[str], Field(description="`<surface>:<what>`")]
    unseen_estimate: UnseenEstimate | None
    list_genuine_share: NotRequired[list[ListGenuineShareDocument]]
    estimates: NotRequired[CoverageEstimates]


class SearchSummary(ClosedDocument):
    """The guest search of this run: terms, pages, and the union with earlier searches."""

    terms: list[str]
    cursor_pages: Count
    observed_union_count: Count


class ConfirmationHistory(ClosedDocument):
    """Confirmed videos of the track over all runs."""

    run_count: Count
    cumulative_confirmed_count: Count
    new_confirmed_count: Annotated[Count, Field(description="confirmed for the first time")]
    first_run_at: Timestamp
    last_run_at: Timestamp


class ConfirmationRound(ClosedDocument):
    """One round of the expansion over music ids."""

    round: Count
    music_ids: list[str]
    new_confirmed_count: Count


class ScanDiscovery(ClosedDocument):
    """How the confirmed videos were found."""

    official_comprehensive_search: SearchSummary
    confirmed_graph_observation_history: ConfirmationHistory
    rounds: list[ConfirmationRound]


class ResultFacts(ClosedDocument):
    """What a stored result and every view of it have in common."""

    music_id: Id | None
    keyword: str | None
    music: TrackDocument | None
    candidate_pool_size: Count
    confirmed_count: Count
    unique_account_count: Count
    account_count_complete: bool
    account_summary: AccountSummary
    discovery: ScanDiscovery
    coverage: Coverage
    coverage_complete: Literal[False]
    algorithm: str
    is_demo_data: bool
    data_provider: str
    created_at: Timestamp


@final  # so that mypy tells it from a discovery by its keys
class StoredResult(ResultFacts):
    """The stored result of a scan: every confirmed video, unranked."""

    ranked: list[LinkedVideo]
    search_related: StoredSearch
    variants: StoredVariants
    versions: NotRequired[Versions]  # younger than some stored results
    parameters: dict[str, object]
    sources_ended_by_exhaustion: dict[Source, bool]
    mobile_emulator_used: NotRequired[bool]  # younger than some stored results
    scan_job_id: NotRequired[str]  # of a copy: the job whose scan this is the result of


class ScanPreview(ClosedDocument):
    """What a running scan has confirmed so far: its first videos in the order of the job."""

    music: TrackDocument | None
    ranked: list[LinkedVideo]
    confirmed_count: Count


class RankingTotals(ClosedDocument):
    """Totals of all confirmed videos, not only of the returned ones."""

    video_count: Count
    account_count: Annotated[int, Field(ge=0, description="distinct accounts, a lower bound")]
    digg_count: Annotated[
        int | None, Field(ge=0, description="sum of the known likes; null: none is known")
    ]
    unknown_digg_count: Annotated[int, Field(ge=0, description="videos whose likes are unknown")]
    max_digg_count: Annotated[int | None, Field(ge=0, description="the most likes of a video")]
    includes_variants: Annotated[
        bool, Field(description="true only where `include_variants` was requested")
    ]


class RankingFacts(ResultFacts):
    """What the rankings of a track have in common."""

    returned_count: Count
    requested_count: Count
    count_satisfied: bool
    count_note_zh: str
    totals: RankingTotals
    audio_check_counts: Annotated[
        dict[AudioCheckKind, Count],
        Field(description="confirmed videos by what was measured of their own sound"),
    ]
    search_related: SearchRelated
    variants: Variants
    versions: Annotated[Versions | None, Field(description="null: none were looked for")]
    mobile_emulator_used: bool


class HotVideos(RankingFacts):
    """The ranking of a track. Never a full enumeration of the platform."""

    aweme_list: list[RankedVideo]


class HotVideosWithVariants(RankingFacts):
    """The same with the variants ranked among the confirmed videos.

    A row with `variant_kind` is a variant. It has no `link_type` and is not confirmed: of the
    counts, only `returned_count` and `totals` include it.
    """

    aweme_list: list[RankedVideo | VariantVideo]


class DiscoveredVideo(RankedVideo):
    """A verified match of a discovery with its association type."""

    association_type: AssociationType
    reference_aweme_id: Id | None


class CandidateMusic(ClosedDocument):
    """The music of a candidate."""

    id_str: Id
    title: str | None
    author: str | None


class DiscoveryCandidate(ClosedDocument):
    """A text candidate with its verdict; rejected ones keep their evidence."""

    aweme_id: Id
    desc: str | None
    music: CandidateMusic | None
    title_relation: TitleRelation
    verdict: Annotated[
        str,
        Field(
            description="the verdict of its comparison; without one `pooled`, `not_reached`, "
            "`unavailable`, or the type of the upstream error"
        ),
    ]
    reason: str | None
    evidence: EvidenceDocument | None
    association_type: AssociationType | None


class Discovery(ClosedDocument):
    """Related videos of a track: verified matches, and every candidate with its reason."""

    kind: Literal["discovery"]
    music_id: Id
    music: TrackDocument
    aweme_list: list[DiscoveredVideo]
    candidates: list[DiscoveryCandidate]
    reference_works: list[Id]
    layer_counts: dict[str, Count]
    coverage: Coverage
    coverage_complete: Literal[False]
    algorithm: str
    confirmed_count: Count
    parameters: dict[str, object]
    is_demo_data: bool
    data_provider: str
    mobile_emulator_used: bool
    created_at: Timestamp


type JobResult = StoredResult | Discovery
"""What a completed job left behind; only a discovery has a `kind`."""
