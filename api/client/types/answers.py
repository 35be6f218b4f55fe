"""Response types, generated from the API description.

Written by `make docs`. Unknown values are None. Ids are text. A name that ends in `Data` is the
`data` of a response.
"""

# ruff: noqa: UP013, E501 -- packed: generated file
# fmt: off
from typing import Literal, NotRequired, TypedDict

AccountEntry = TypedDict("AccountEntry", {"sec_uid": "str", "nickname": "str | None",
    "unique_id": "str | None", "follower_count": "int | None",
    "follower_count_source": 'NotRequired[Literal["follower_count", "mplatform_followers_count"] | None]',
    "total_favorited": "int | None", "aweme_count": "int | None", "profile_complete": "bool",
    "linked_video_count": "int", "linked_digg_count": "int | None",
    "linked_comment_count": "int | None", "linked_collect_count": "int | None",
    "linked_share_count": "int | None", "linked_statistics_complete": "bool",
    "top_video": "VideoPreview", "video_previews": "list[VideoPreview]"})
AccountSummary = TypedDict("AccountSummary", {"accounts": "list[AccountEntry]",
    "video_preview_limit": "int", "account_count": "int", "account_count_complete": "bool"})
AuditedVideoDocument = TypedDict("AuditedVideoDocument", {"aweme_id": "str",
    "music_id": "str | None",
    "verdict": 'Literal["confirmed", "variant", "rejected", "not_comparable", "unavailable", "not_read"]',
    "reason": "str | None", "comparison_id": "str | None"})
AuthorDocument = TypedDict("AuthorDocument", {"sec_uid": "str", "uid": "str | None",
    "unique_id": "str | None", "nickname": "str | None", "avatar_thumb": "ImageUrls"})
BatchItem = TypedDict("BatchItem", {"input": "str", "label": "str | None",
    "list_input": "str | None", "ok": "bool",
    "status": 'Literal["queued", "running", "completed", "failed", "cancelled"] | None',
    "job_id": "str | None", "poll_url": "str | None", "result": "HotVideos | None",
    "error": "ErrorDocument | None"})
BatchResult = TypedDict("BatchResult", {"items": "list[BatchItem]", "lists": "list[BatchSongList]",
    "ok_count": "int", "error_count": "int", "notes": "list[ResultNote]", "is_demo_data": "bool"})
BatchSongList = TypedDict("BatchSongList", {"input": "str",
    "kind": 'Literal["playlist", "album", "artist"]', "title": "str | None", "song_count": "int",
    "taken_count": "int", "left_out_count": "int"})
CandidateMusic = TypedDict("CandidateMusic", {"id_str": "str", "title": "str | None",
    "author": "str | None"})
ChartHistoryDocument = TypedDict("ChartHistoryDocument", {"snapshots": "list[ChartSnapshot]",
    "start_date": "str", "end_date": "str", "requested_end_date": "str", "end_date_cut": "bool",
    "interval_days": "int", "limit": "int", "node_count": "int", "collected_count": "int",
    "not_collected_count": "int", "latest_chart_date": "str", "next_issue_by": "str | None",
    "issues_refreshed": "bool", "data_provider": "str", "is_demo_data": "bool"})
ChartSnapshot = TypedDict("ChartSnapshot", {"target_date": "str", "chart_date": "str | None",
    "volid": "str | None", "issue_name": "str | None", "day_offset": "int | None",
    "reason": "str | None", "songs": "list[ChartSongDocument]"})
ChartSongDocument = TypedDict("ChartSongDocument", {"rank": "int", "title": "str",
    "artist": "str | None", "duration": "int | None", "cover": "str | None",
    "previous_rank": "int | None", "rank_change": "int | None", "is_new": "bool | None",
    "song_key": "str"})
ConfirmationHistory = TypedDict("ConfirmationHistory", {"run_count": "int",
    "cumulative_confirmed_count": "int", "new_confirmed_count": "int", "first_run_at": "str",
    "last_run_at": "str"})
ConfirmationRound = TypedDict("ConfirmationRound", {"round": "int", "music_ids": "list[str]",
    "new_confirmed_count": "int"})
ContinuedFrom = TypedDict("ContinuedFrom", {"stage": "str", "round": "int | None"})
Coverage = TypedDict("Coverage", {"audit": "NotRequired[RandomAuditDocument]",
    "sources": "list[SourceCoverageDocument]",
    "decisions": "NotRequired[list[SourceDecisionDocument]]", "not_reached": "list[str]",
    "unseen_estimate": "UnseenEstimate | None",
    "list_genuine_share": "NotRequired[list[ListGenuineShareDocument]]",
    "estimates": "NotRequired[CoverageEstimates]"})
CoverageEstimateDocument = TypedDict("CoverageEstimateDocument", {"observed": "int",
    "listed": "NotRequired[int]", "source_count": "int", "sample_size": "int",
    "method": 'Literal["chao1", "ichao1", "chao2", "ichao2", "good_turing"] | None',
    "point": "float | None", "interval_95": "list[int] | None", "sample_coverage": "float | None",
    "assumption": 'Literal["screens_show_any_music_id", "lists_of_known_ids_are_complete"] | None',
    "reason": 'Literal["not_compared", "one_source", "too_few", "no_overlap", "lists_not_read", "not_audited", "sample_too_thin"] | None',
    "note": "str"})
CoverageEstimates = TypedDict("CoverageEstimates", {"music_ids": "CoverageEstimateDocument",
    "videos": "CoverageEstimateDocument"})
CreatorMetrics = TypedDict("CreatorMetrics", {"data_provider": "str", "is_experimental": "bool",
    "is_demo_data": "bool", "sec_user_id": "str", "nickname": "str | None",
    "follower_count": "int | None", "total_favorited": "int | None", "days": "int",
    "window_start": "str", "window_end": "str", "analyzed_count": "int",
    "average_digg_count": "float | None", "median_digg_count": "float | None",
    "top_video": "VideoDocument | None", "statistics_complete": "bool",
    "coverage_complete": "Literal[False]"})
CursorList = TypedDict("CursorList", {"has_more": "bool", "platform_has_more": "bool | None",
    "pagination_mode": 'Literal["public_first_screen_local_cursor", "platform_cursor"]',
    "public_first_screen_count": "int", "public_observed_union_count": "int",
    "observation_history": "ObservationHistory", "coverage_complete": "Literal[False]",
    "data_provider": "str", "is_experimental": "bool", "is_demo_data": "bool",
    "aweme_list": "list[VideoDocument]", "cursor": "int"})
DiscoveredVideo = TypedDict("DiscoveredVideo", {"aweme_id": "str", "desc": "str | None",
    "create_time": "int | None", "created_at": "NotRequired[str | None]",
    "created_at_source": 'NotRequired[Literal["stated", "id"] | None]',
    "created_at_difference_s": "NotRequired[int | None]", "share_url": "str | None",
    "media_type": 'Literal["video", "photo"] | None', "is_top": "bool | None",
    "author": "AuthorDocument | None", "music": "MusicDocument | None", "video": "VideoMedia",
    "images_count": "int | None", "hashtags": "list[HashtagDocument]",
    "statistics": "StatisticsDocument", "statistics_complete": "bool",
    "statistics_source": "str | None", "observed_at": "str", "first_observed_at": "str",
    "link_type": 'Literal["exact_music_id", "audio_fingerprint_match", "verified_music_id_graph"]',
    "source_music_id": "str", "source_channel_zh": "str", "source_music_title": "str | None",
    "source_music_url": "str | None", "evidence": "NotRequired[EvidenceDocument]", "rank": "int",
    "hot_score": "int | None", "is_viral": "bool",
    "association_type": 'Literal["audio_fingerprint_match", "exact_music_id_discovered"]',
    "reference_aweme_id": "str | None"})
Discovery = TypedDict("Discovery", {"kind": 'Literal["discovery"]', "music_id": "str",
    "music": "TrackDocument", "aweme_list": "list[DiscoveredVideo]",
    "candidates": "list[DiscoveryCandidate]", "reference_works": "list[str]",
    "layer_counts": "dict[str, int]", "coverage": "Coverage", "coverage_complete": "Literal[False]",
    "algorithm": "str", "confirmed_count": "int", "parameters": "dict[str, object]",
    "is_demo_data": "bool", "data_provider": "str", "mobile_emulator_used": "bool",
    "created_at": "str"})
DiscoveryCandidate = TypedDict("DiscoveryCandidate", {"aweme_id": "str", "desc": "str | None",
    "music": "CandidateMusic | None", "title_relation": 'Literal["names_the_song", "none"]',
    "verdict": "str", "reason": "str | None", "evidence": "EvidenceDocument | None",
    "association_type": 'Literal["audio_fingerprint_match", "exact_music_id_discovered"] | None'})
DiscoveryResponse = TypedDict("DiscoveryResponse", {"kind": 'Literal["discovery"]',
    "music_id": "str", "music": "TrackDocument", "aweme_list": "list[DiscoveredVideo]",
    "candidates": "list[DiscoveryCandidate]", "reference_works": "list[str]",
    "layer_counts": "dict[str, int]", "coverage": "Coverage", "coverage_complete": "Literal[False]",
    "algorithm": "str", "confirmed_count": "int", "parameters": "dict[str, object]",
    "is_demo_data": "bool", "data_provider": "str", "mobile_emulator_used": "bool",
    "created_at": "str", "job_id": "str", "poll_url": "str"})
ErrorDocument = TypedDict("ErrorDocument", {"type": "str", "detail": "str", "hint": "str | None",
    "retry_after": "float | None", "upstream": "UpstreamResponse | None"})
EvidenceDocument = TypedDict("EvidenceDocument", {"comparison_id": "str",
    "reference_kind": 'Literal["video", "service_track"]', "reference_aweme_id": "str | None",
    "reference_service_track_id": "str | None", "candidate_aweme_id": "str",
    "reference_music_id": "str", "candidate_music_id": "str",
    "verdict": 'Literal["confirmed", "variant", "rejected", "not_comparable"]', "reason": "str",
    "segment": 'Literal["whole", "local"] | None', "chroma_distance": "float | None",
    "mfcc_distance": "float | None", "overlap_s": "float | None",
    "reference_start_s": "float | None", "candidate_start_s": "float | None",
    "peak_agreement": "float | None", "score": "float | None", "speed": "float | None",
    "semitones": "float | None",
    "observation": 'NotRequired[Literal["likely_cover", "likely_reversed", "shared_voice", "uncertain"] | None]',
    "searched": "NotRequired[SearchedDocument | None]", "limits": "dict[str, float]",
    "algorithm": "str", "feature_version": "str", "library_version": "str",
    "reference_source": 'NotRequired[Literal["platform", "music_service"]]'})
FilteredVideo = TypedDict("FilteredVideo", {"aweme_id": "str", "reason": "str",
    "filter_reason": "str | None", "notice": "str | None", "detail_msg": "str | None"})
HashtagDocument = TypedDict("HashtagDocument", {"ch_id": "str", "name": "str"})
HotVideos = TypedDict("HotVideos", {"music_id": "str | None", "keyword": "str | None",
    "music": "TrackDocument | None", "candidate_pool_size": "int", "confirmed_count": "int",
    "unique_account_count": "int", "account_count_complete": "bool",
    "account_summary": "AccountSummary", "discovery": "ScanDiscovery", "coverage": "Coverage",
    "coverage_complete": "Literal[False]", "algorithm": "str", "is_demo_data": "bool",
    "data_provider": "str", "created_at": "str", "aweme_list": "list[RankedVideo]",
    "returned_count": "int", "requested_count": "int", "count_satisfied": "bool",
    "count_note_zh": "str", "search_related": "SearchRelated", "variants": "Variants",
    "mobile_emulator_used": "bool"})
HotVideosResponse = TypedDict("HotVideosResponse", {"music_id": "str | None",
    "keyword": "str | None", "music": "TrackDocument | None", "candidate_pool_size": "int",
    "confirmed_count": "int", "unique_account_count": "int", "account_count_complete": "bool",
    "account_summary": "AccountSummary", "discovery": "ScanDiscovery", "coverage": "Coverage",
    "coverage_complete": "Literal[False]", "algorithm": "str", "is_demo_data": "bool",
    "data_provider": "str", "created_at": "str", "aweme_list": "list[RankedVideo]",
    "returned_count": "int", "requested_count": "int", "count_satisfied": "bool",
    "count_note_zh": "str", "search_related": "SearchRelated", "variants": "Variants",
    "mobile_emulator_used": "bool", "job_id": "str", "poll_url": "str",
    "notes": "list[ResultNote]"})
ImageUrls = TypedDict("ImageUrls", {"url_list": "list[str]"})
JobDocument = TypedDict("JobDocument", {"job_id": "str", "poll_url": "str", "scan_job_id": "str",
    "status": 'Literal["queued", "running", "completed", "failed", "cancelled"]', "input": "str",
    "music_id": "str | None", "parameters": "dict[str, object]", "progress": "JobProgress",
    "result": "HotVideos | Discovery | None", "error": "ErrorDocument | None",
    "cancel_requested": "bool", "origin": "str", "created_at": "str", "started_at": "str | None",
    "finished_at": "str | None", "expires_at": "str | None", "notes": "list[ResultNote]",
    "is_demo_data": "bool"})
JobList = TypedDict("JobList", {"jobs": "list[JobDocument]", "tracks": "dict[str, TrackName]",
    "returned_count": "int", "is_demo_data": "bool"})
JobProgress = TypedDict("JobProgress", {"stage": "str", "stage_index": "int", "stage_count": "int",
    "candidate_pool_count": "int", "confirmed_count": "int", "detail_checked_count": "int",
    "audio_checked_count": "int", "search_page_count": "int", "account_profile_count": "int",
    "requests_used": "int", "eta_s": "float | None", "eta_range_s": "list[float] | None",
    "attempt": "int", "attempt_count": "int",
    "waiting_for": 'Literal["worker", "processor", "host_pause", "budget", "disk", "lease"] | None',
    "continued_from": "ContinuedFrom | None", "updated_at": "str | None"})
ListGenuineShareDocument = TypedDict("ListGenuineShareDocument", {"music_id": "str", "rows": "int",
    "own_rows": "int", "audio_rows": "NotRequired[int]"})
ManyVideos = TypedDict("ManyVideos", {"data_provider": "str", "is_experimental": "bool",
    "is_demo_data": "bool", "aweme_list": "list[VideoDocument]",
    "filter_list": "list[FilteredVideo]", "thirdparty_called": "Literal[False]",
    "mobile_emulator_used": "bool", "signing_generated": "Literal[False]"})
MusicDocument = TypedDict("MusicDocument", {"id_str": "str", "mid": "str", "title": "str | None",
    "author": "str | None", "duration": "int | None", "is_original_sound": "bool | None",
    "created_at": "NotRequired[str | None]",
    "created_at_source": 'NotRequired[Literal["stated", "id"] | None]',
    "born_with": "NotRequired[SoundOriginDocument | None]"})
ObservationHistory = TypedDict("ObservationHistory", {"snapshot_count": "int",
    "distinct_snapshot_count": "int", "first_observed_at": "str | None",
    "last_observed_at": "str | None"})
PostList = TypedDict("PostList", {"has_more": "bool", "platform_has_more": "bool | None",
    "pagination_mode": 'Literal["public_first_screen_local_cursor", "platform_cursor"]',
    "public_first_screen_count": "int", "public_observed_union_count": "int",
    "observation_history": "ObservationHistory", "coverage_complete": "Literal[False]",
    "data_provider": "str", "is_experimental": "bool", "is_demo_data": "bool",
    "aweme_list": "list[VideoDocument]", "max_cursor": "int", "local_cursor_mode": "bool"})
RandomAuditDocument = TypedDict("RandomAuditDocument", {"seed": "str", "pool": "int",
    "drawn": "int", "compared": "int", "found": "int", "upper_bound_share": "float | None",
    "upper_bound_count": "int | None", "confidence": "float",
    "reason": 'Literal["switched_off", "not_compared", "nothing_left", "no_reference", "none_comparable"] | None',
    "videos": "list[AuditedVideoDocument]", "note": "str"})
RankedVideo = TypedDict("RankedVideo", {"aweme_id": "str", "desc": "str | None",
    "create_time": "int | None", "created_at": "NotRequired[str | None]",
    "created_at_source": 'NotRequired[Literal["stated", "id"] | None]',
    "created_at_difference_s": "NotRequired[int | None]", "share_url": "str | None",
    "media_type": 'Literal["video", "photo"] | None', "is_top": "bool | None",
    "author": "AuthorDocument | None", "music": "MusicDocument | None", "video": "VideoMedia",
    "images_count": "int | None", "hashtags": "list[HashtagDocument]",
    "statistics": "StatisticsDocument", "statistics_complete": "bool",
    "statistics_source": "str | None", "observed_at": "str", "first_observed_at": "str",
    "link_type": 'Literal["exact_music_id", "audio_fingerprint_match", "verified_music_id_graph"]',
    "source_music_id": "str", "source_channel_zh": "str", "source_music_title": "str | None",
    "source_music_url": "str | None", "evidence": "NotRequired[EvidenceDocument]", "rank": "int",
    "hot_score": "int | None", "is_viral": "bool"})
RelatedVideo = TypedDict("RelatedVideo", {"aweme_id": "str", "desc": "str | None",
    "create_time": "int | None", "created_at": "NotRequired[str | None]",
    "created_at_source": 'NotRequired[Literal["stated", "id"] | None]',
    "created_at_difference_s": "NotRequired[int | None]", "share_url": "str | None",
    "media_type": 'Literal["video", "photo"] | None', "is_top": "bool | None",
    "author": "AuthorDocument | None", "music": "MusicDocument | None", "video": "VideoMedia",
    "images_count": "int | None", "hashtags": "list[HashtagDocument]",
    "statistics": "StatisticsDocument", "statistics_complete": "bool",
    "statistics_source": "str | None", "observed_at": "str", "first_observed_at": "str",
    "hot_score": "int | None",
    "search_relevance_level": 'Literal["exact_title", "music_id_corroborated", "conflicting_music_title", "expanded_candidate"]',
    "search_terms": "list[str]", "duplicate_with_returned_ranking": "bool"})
ResolvedUser = TypedDict("ResolvedUser", {"data_provider": "str", "is_experimental": "bool",
    "is_demo_data": "bool", "sec_user_id": "str", "resolved_url": "str",
    "source": 'Literal["text", "profile_link", "short_link", "work_author"]'})
ResultNote = TypedDict("ResultNote", {"type": "str", "message": "str", "message_zh": "str"})
ScanDiscovery = TypedDict("ScanDiscovery", {"official_comprehensive_search": "SearchSummary",
    "confirmed_graph_observation_history": "ConfirmationHistory",
    "rounds": "list[ConfirmationRound]"})
SearchPagination = TypedDict("SearchPagination", {"pages_fetched": "int", "terms_paginated": "int",
    "terms": "list[SearchTerm]", "request_budget": "int", "requests_used": "int"})
SearchRelated = TypedDict("SearchRelated", {"returned_count": "int", "high_relevance_count": "int",
    "conflicting_music_title_count": "int", "expanded_candidate_count": "int",
    "visible_ranking_overlap_count": "int", "pagination": "SearchPagination",
    "aweme_list": "list[RelatedVideo]"})
SearchSummary = TypedDict("SearchSummary", {"terms": "list[str]", "cursor_pages": "int",
    "observed_union_count": "int"})
SearchTerm = TypedDict("SearchTerm", {"term": "str", "pages": "int", "items": "int",
    "new_items": "int", "last_cursor": "int | None", "finished": "bool", "stop_reason": "str"})
SearchedDocument = TypedDict("SearchedDocument", {"speed": "list[float]", "tempo": "list[float]",
    "semitones": "list[float]", "tempo_with_pitch": "list[float]", "min_overlap_s": "float",
    "reference_s": "float", "candidate_s": "float", "min_excerpt_s": "NotRequired[float | None]"})
SoundOriginDocument = TypedDict("SoundOriginDocument", {"aweme_id": "str",
    "source": 'Literal["stated", "id"]', "offset_s": "int | None"})
SourceCoverageDocument = TypedDict("SourceCoverageDocument", {"surface": "str", "requests": "int",
    "pages": "int", "items": "int", "new_items": "int", "stop_reason": "str",
    "foreign_rows": "NotRequired[int]"})
SourceDecisionDocument = TypedDict("SourceDecisionDocument", {"question": "str", "surface": "str",
    "tried": "int", "answered": "int", "left_closed": "int", "left_sick": "int",
    "left_held_back": "int", "latest_answers": "NotRequired[int]",
    "latest_refusals": "NotRequired[int]"})
StatisticsDocument = TypedDict("StatisticsDocument", {"digg_count": "int | None",
    "comment_count": "int | None", "collect_count": "int | None", "share_count": "int | None"})
TrackDocument = TypedDict("TrackDocument", {"id_str": "str", "mid": "str", "title": "str | None",
    "author": "str | None", "duration": "int | None", "is_original_sound": "bool | None",
    "created_at": "NotRequired[str | None]",
    "created_at_source": 'NotRequired[Literal["stated", "id"] | None]',
    "born_with": "NotRequired[SoundOriginDocument | None]", "owner_nickname": "str | None",
    "cover": "ImageUrls", "observed_at": "str"})
TrackName = TypedDict("TrackName", {"title": "str | None", "author": "str | None"})
UnseenEstimate = TypedDict("UnseenEstimate", {"method": "str", "unit": "str", "lower_bound": "int",
    "observed": "int", "met_once": "int", "met_twice": "int", "note": "str"})
UpstreamResponse = TypedDict("UpstreamResponse", {"surface": "str", "reason": "str | None",
    "status": "int | None"})
User = TypedDict("User", {"sec_uid": "str", "uid": "str | None", "unique_id": "str | None",
    "short_id": "str | None", "nickname": "str | None", "signature": "str | None",
    "avatar_thumb": "ImageUrls", "follower_count": "int | None",
    "follower_count_source": 'Literal["follower_count", "mplatform_followers_count"] | None',
    "following_count": "int | None", "aweme_count": "int | None", "total_favorited": "int | None",
    "favoriting_count": "int | None", "ip_location": "str | None"})
UserProfile = TypedDict("UserProfile", {"data_provider": "str", "is_experimental": "bool",
    "is_demo_data": "bool", "user": "User", "observed_at": "str"})
VariantVideo = TypedDict("VariantVideo", {"aweme_id": "str", "desc": "str | None",
    "create_time": "int | None", "created_at": "NotRequired[str | None]",
    "created_at_source": 'NotRequired[Literal["stated", "id"] | None]',
    "created_at_difference_s": "NotRequired[int | None]", "share_url": "str | None",
    "media_type": 'Literal["video", "photo"] | None', "is_top": "bool | None",
    "author": "AuthorDocument | None", "music": "MusicDocument | None", "video": "VideoMedia",
    "images_count": "int | None", "hashtags": "list[HashtagDocument]",
    "statistics": "StatisticsDocument", "statistics_complete": "bool",
    "statistics_source": "str | None", "observed_at": "str", "first_observed_at": "str",
    "variant_kind": 'Literal["speed", "tempo", "pitch", "pitch_and_speed", "excerpt"]',
    "speed": "float", "semitones": "float", "source_music_id": "str",
    "source_music_title": "str | None", "source_music_url": "str | None",
    "evidence": "EvidenceDocument", "rank": "int", "hot_score": "int | None", "is_viral": "bool"})
Variants = TypedDict("Variants", {"count": "int", "by_kind": "dict[str, int]",
    "aweme_list": "list[VariantVideo]"})
VideoDocument = TypedDict("VideoDocument", {"aweme_id": "str", "desc": "str | None",
    "create_time": "int | None", "created_at": "NotRequired[str | None]",
    "created_at_source": 'NotRequired[Literal["stated", "id"] | None]',
    "created_at_difference_s": "NotRequired[int | None]", "share_url": "str | None",
    "media_type": 'Literal["video", "photo"] | None', "is_top": "bool | None",
    "author": "AuthorDocument | None", "music": "MusicDocument | None", "video": "VideoMedia",
    "images_count": "int | None", "hashtags": "list[HashtagDocument]",
    "statistics": "StatisticsDocument", "statistics_complete": "bool",
    "statistics_source": "str | None", "observed_at": "str", "first_observed_at": "str"})
VideoMedia = TypedDict("VideoMedia", {"duration": "int | None", "width": "int | None",
    "height": "int | None", "cover": "ImageUrls"})
VideoPreview = TypedDict("VideoPreview", {"aweme_id": "str", "desc": "str | None",
    "create_time": "int | None", "share_url": "str | None",
    "link_type": 'Literal["exact_music_id", "audio_fingerprint_match", "verified_music_id_graph"]',
    "statistics": "StatisticsDocument"})
type SecUserIdData = ResolvedUser
type UserProfileData = UserProfile
type UserPostsData = PostList
type UserMetricsData = CreatorMetrics
type HotVideosData = HotVideosResponse | JobDocument
type BatchData = BatchResult
type JobData = JobDocument
type RelatedVideosData = DiscoveryResponse
type VideosData = ManyVideos
type MusicVideosData = CursorList
type HashtagVideosData = CursorList
type ChartHistoryData = ChartHistoryDocument
type JobListData = JobList
