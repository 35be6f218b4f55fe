"""Response types of the extension operations, generated from the API description.

Written by `make docs`. Unknown values are None. Ids are text. A name that ends in `Data` is the
`data` of a response.
"""

# ruff: noqa: UP013, E501 -- packed: generated file
# fmt: off
from typing import Literal, NotRequired, TypedDict

from .answers import ErrorDocument, EvidenceDocument, JobDocument, RankedVideo, TrackDocument

AnnotationCounts = TypedDict("AnnotationCounts", {"same": "int", "not_the_same": "int"})
AnnotationDocument = TypedDict("AnnotationDocument", {"annotation_id": "str",
    "verdict": 'Literal["same", "not_the_same"]', "note": "str | None",
    "origin": 'Literal["api", "cli", "console", "schedule", "launchpad"]', "annotated_at": "str"})
AnnotationList = TypedDict("AnnotationList", {"comparison_id": "str",
    "annotations": "list[AnnotationDocument]", "counts": "AnnotationCounts",
    "is_demo_data": "bool"})
Budget = TypedDict("Budget", {"limit": "int", "used": "int", "hosts": "list[HostBudget]"})
CatalogCancelled = TypedDict("CatalogCancelled", {"name": "str", "cancelled_count": "int",
    "is_demo_data": "bool"})
CatalogDocument = TypedDict("CatalogDocument", {"name": "str",
    "settings": "CatalogSettingsDocument", "created_at": "str", "updated_at": "str",
    "read_at": "str", "track_count": "int", "states": "dict[str, int]", "due_count": "int",
    "spent_today": "CatalogSpending", "same_music": "dict[str, list[str]]", "is_running": "bool",
    "is_demo_data": "bool"})
CatalogImport = TypedDict("CatalogImport", {"name": "str", "is_dry_run": "bool",
    "track_count": "int", "new_count": "int", "updated_count": "int",
    "duplicates": "list[DuplicateLineDocument]", "problems": "list[ImportProblemDocument]",
    "lists": "list[ImportedListDocument]", "is_demo_data": "bool"})
CatalogList = TypedDict("CatalogList", {"catalogs": "list[CatalogDocument]",
    "returned_count": "int", "is_demo_data": "bool"})
CatalogRemoved = TypedDict("CatalogRemoved", {"name": "str", "removed_count": "int",
    "is_demo_data": "bool"})
CatalogSettingsDocument = TypedDict("CatalogSettingsDocument", {"fresh_days": "float",
    "tracks_per_day": "int | None", "requests_per_day": "int | None",
    "parameters": "dict[str, object]"})
CatalogSpending = TypedDict("CatalogSpending", {"tracks": "int", "requests": "int"})
CatalogTrackDocument = TypedDict("CatalogTrackDocument", {"key": "str", "input": "str",
    "label": "str | None", "priority": "int", "columns": "dict[str, object]",
    "state": 'Literal["running", "failed", "fresh", "stale", "never_read"]',
    "music_id": "str | None", "job_id": "str | None", "stage": "str | None",
    "result_job_id": "str | None", "result_at": "str | None", "previous_job_id": "str | None",
    "failed_at": "str | None", "error": "ErrorDocument | dict[str, object] | None"})
CatalogTracks = TypedDict("CatalogTracks", {"name": "str", "tracks": "list[CatalogTrackDocument]",
    "returned_count": "int", "total_count": "int", "next_cursor": "int | None",
    "is_demo_data": "bool"})
ChartPosition = TypedDict("ChartPosition", {"chart_date": "str", "volid": "str", "rank": "int"})
ChartSongComparison = TypedDict("ChartSongComparison", {"song_key": "str", "title": "str",
    "artist": "str | None", "chart": "SongOnChart", "links": "list[SongLink]",
    "said": "list[LinkDecision]", "platform": "SongOnPlatform", "lead": "SongLead",
    "is_demo_data": "bool"})
CircuitReport = TypedDict("CircuitReport", {"host": "str", "surface": "str", "failures": "int",
    "cause": "str | None", "open_until": "str | None"})
ComparedVideo = TypedDict("ComparedVideo", {"desc": "str | None", "nickname": "str | None",
    "sec_uid": "str | None", "share_url": "str | None"})
ComparisonDocument = TypedDict("ComparisonDocument", {"comparison_id": "str", "job_id": "str",
    "track_music_id": "str", "evidence": "EvidenceDocument", "measures": "list[MeasureDocument]",
    "picture": "PlotPaths", "excerpts": "Excerpts", "videos": "dict[str, ComparedVideo]",
    "is_demo_data": "bool"})
ComparisonList = TypedDict("ComparisonList", {"job_id": "str",
    "comparisons": "list[EvidenceDocument]", "videos": "dict[str, ComparedVideo]",
    "returned_count": "int", "is_demo_data": "bool"})
CurvePoint = TypedDict("CurvePoint", {"observed_at": "str", "work_count": "int",
    "digg_count": "int | None", "comment_count": "int | None", "collect_count": "int | None",
    "share_count": "int | None", "growth": "TrackGrowth"})
DoctorReport = TypedDict("DoctorReport", {"surfaces": "list[SurfaceReport]",
    "observed_at": "str | None", "circuits": "list[CircuitReport]", "robots": "list[RobotsReport]",
    "is_demo_data": "bool", "ready": "bool", "checks": "list[HealthCheck]"})
DuplicateLineDocument = TypedDict("DuplicateLineDocument", {"line": "int", "first_line": "int",
    "input": "str"})
EndpointName = TypedDict("EndpointName", {"number": "int", "name": "str", "short": "str"})
ExampleDocument = TypedDict("ExampleDocument", {"input": "str | None", "title": "str | None",
    "is_demo_data": "bool"})
ExcerptDocument = TypedDict("ExcerptDocument", {"path": "str", "start_s": "float",
    "duration_s": "float"})
Excerpts = TypedDict("Excerpts", {"reference": "ExcerptDocument | None",
    "candidate": "ExcerptDocument | None"})
HealthCheck = TypedDict("HealthCheck", {"name": "str", "reason": "str | None"})
HostBudget = TypedDict("HostBudget", {"host": "str", "used": "int", "left": "int"})
ImportProblemDocument = TypedDict("ImportProblemDocument", {"line": "int", "input": "str | None",
    "reason": 'Literal["no_track", "not_a_track", "rounded_number", "bad_priority", "too_many_tracks", "unreadable"]',
    "message": "str"})
ImportedListDocument = TypedDict("ImportedListDocument", {"line": "int", "input": "str",
    "title": "str | None", "song_count": "int", "stated_count": "int | None"})
JobPreview = TypedDict("JobPreview", {"job_id": "str",
    "status": 'Literal["queued", "running", "completed", "failed", "cancelled"]',
    "music": "TrackDocument | None", "aweme_list": "list[RankedVideo]", "returned_count": "int",
    "confirmed_count": "int", "updated_at": "str | None", "is_demo_data": "bool"})
JobReads = TypedDict("JobReads", {"job_id": "str", "reads": "list[SurfaceReads]",
    "is_demo_data": "bool"})
LinkDecision = TypedDict("LinkDecision", {"link_id": "str", "song_key": "str", "music_id": "str",
    "said": 'Literal["same", "different", "withdrawn"]', "said_by": "str | None",
    "note": "str | None", "origin": 'Literal["api", "cli", "console", "schedule", "launchpad"]',
    "said_at": "str"})
LinkDecisionList = TypedDict("LinkDecisionList", {"links": "list[LinkDecision]",
    "returned_count": "int", "is_demo_data": "bool"})
MeasureDocument = TypedDict("MeasureDocument",
    {"name": 'Literal["chroma_distance", "mfcc_distance", "overlap_s", "peak_agreement", "score"]',
    "value": "float | None", "limit": "float | None", "lower_is_better": "bool",
    "is_met": "bool | None"})
NamedQueryDocument = TypedDict("NamedQueryDocument", {"name": "str", "subject": "str",
    "title": "str", "title_zh": "str", "description": "str", "description_zh": "str",
    "parameters": "list[QueryParameterDocument]", "sql": "str"})
NoteDocument = TypedDict("NoteDocument", {"kind": 'Literal["track", "video", "pair"]', "id": "str",
    "note": "str | None", "tags": "list[str]", "updated_at": "str"})
NoteList = TypedDict("NoteList", {"notes": "list[NoteDocument]", "returned_count": "int",
    "is_demo_data": "bool"})
PlotPaths = TypedDict("PlotPaths", {"svg": "str | None", "png": "str | None"})
QueryLibrary = TypedDict("QueryLibrary", {"queries": "list[NamedQueryDocument]",
    "returned_count": "int", "is_demo_data": "bool"})
QueryParameterDocument = TypedDict("QueryParameterDocument", {"name": "str",
    "type": 'Literal["text", "integer", "date"]', "default": "str | None", "meaning": "str",
    "meaning_zh": "str"})
Reference = TypedDict("Reference", {"operations": "list[ReferenceOperation]",
    "errors": "list[ReferenceFailure]"})
ReferenceExample = TypedDict("ReferenceExample", {"url": "str", "body": "object",
    "file": "str | None"})
ReferenceFailure = TypedDict("ReferenceFailure", {"type": "str", "status": "int", "message": "str",
    "message_zh": "str", "hint": "str", "hint_zh": "str"})
ReferenceOperation = TypedDict("ReferenceOperation", {"id": "str", "number": "str | None",
    "operation_id": "str", "method": "str", "path": "str", "tag": "str", "tag_zh": "str",
    "summary": "str", "summary_zh": "str", "description": "str", "description_zh": "str",
    "parameters": "list[ReferenceParameter]", "statuses": "dict[str, list[str]]",
    "example": "ReferenceExample | None"})
ReferenceParameter = TypedDict("ReferenceParameter", {"name": "str", "in": "str", "type": "str",
    "required": "bool", "default": "object", "default_from": "str | None",
    "minimum": "float | None", "maximum": "float | None", "min_items": "int | None",
    "max_items": "int | None", "pattern": "str | None", "format": "str | None",
    "allowed": "list[str | int] | None", "meaning": "str", "meaning_zh": "str"})
RobotsReport = TypedDict("RobotsReport", {"host": "str", "surface": "str",
    "decision": 'Literal["allowed", "disallowed", "unknown"]', "reason": "str",
    "decided_at": "str"})
Series = TypedDict("Series", {"kind": 'Literal["video", "track", "account"]', "id": "str",
    "name": "str | None", "measures": "list[str]", "points": "list[SeriesPoint]",
    "returned_count": "int", "is_demo_data": "bool"})
SeriesPoint = TypedDict("SeriesPoint", {"observed_at": "str", "surface": "str | None",
    "digg_count": "NotRequired[int | None]", "comment_count": "NotRequired[int | None]",
    "collect_count": "NotRequired[int | None]", "share_count": "NotRequired[int | None]",
    "follower_count": "NotRequired[int | None]", "total_favorited": "NotRequired[int | None]",
    "aweme_count": "NotRequired[int | None]", "following_count": "NotRequired[int | None]",
    "work_count": "NotRequired[int | None]", "growth": "NotRequired[TrackGrowth]",
    "is_exact": "bool", "ranges": "dict[str, list[int]] | None", "job_ids": "list[str]"})
SettingDocument = TypedDict("SettingDocument", {"name": "str", "value": "str | None",
    "source": 'Literal["default", "environment", "file"]', "description": "str"})
SettingList = TypedDict("SettingList", {"settings": "list[SettingDocument]",
    "returned_count": "int", "is_demo_data": "bool"})
SongLead = TypedDict("SongLead", {"lead_days": "float | None", "low_days": "float | None",
    "high_days": "float | None",
    "direction": 'Literal["platform_first", "chart_first", "undecided"] | None',
    "reason": 'Literal["no_observations", "no_likes", "too_few_observations", "entry_not_seen", "publication_unknown", "bounds_too_wide"] | None',
    "is_estimate": "bool", "work_count": "int", "observation_count": "int",
    "observed_day_count": "int", "rise_after": "str | None", "rise_before": "str | None",
    "method": "str"})
SongLink = TypedDict("SongLink", {"music_id": "str", "via_music_id": "str | None",
    "relation": 'Literal["same", "possible", "different", "none"]',
    "confidence": 'Literal["manual", "high", "medium", "low"]',
    "reason": 'Literal["manual_same", "manual_different", "title_and_artist", "title_and_one_artist", "confirmed_recording", "title_without_addition", "confirmed_variant", "title_only", "artist_differs", "no_longer_linked"]',
    "music_title": "str | None", "music_author": "str | None", "judged_at": "str"})
SongLinkUpdate = TypedDict("SongLinkUpdate", {"song_count": "int", "issue_count": "int",
    "lead_count": "int", "row_count": "int", "relations": "dict[str, int]", "is_demo_data": "bool"})
SongOnChart = TypedDict("SongOnChart", {"issue_count": "int", "best_rank": "int",
    "first_chart_date": "str", "last_chart_date": "str", "entry_after_date": "str | None",
    "kept_issue_count": "int", "kept_from": "str", "kept_to": "str",
    "positions": "list[ChartPosition]"})
SongOnPlatform = TypedDict("SongOnPlatform", {"music_ids": "list[str]",
    "points": "list[CurvePoint]"})
SqlAnswer = TypedDict("SqlAnswer", {"query": "str | None", "columns": "list[SqlColumn]",
    "rows": "list[list[object]]", "returned_count": "int", "row_limit": "int", "is_cut": "bool",
    "seconds": "float", "as_of": "str | None", "history_rewritten": "bool", "is_demo_data": "bool"})
SqlColumn = TypedDict("SqlColumn", {"name": "str",
    "kind": 'Literal["text", "whole", "real", "flag", "time", "date", "texts"]'})
Storage = TypedDict("Storage", {"parts": "list[StoragePart]", "total_bytes": "int",
    "free_bytes": "int", "budget": "Budget", "is_demo_data": "bool"})
StoragePart = TypedDict("StoragePart", {"name": "str", "bytes": "int", "files": "int"})
SurfaceReads = TypedDict("SurfaceReads", {"surface": "str", "outcome": "str", "captures": "int",
    "requests": "int", "items": "int"})
SurfaceReport = TypedDict("SurfaceReport", {"surface": "str", "label": "str",
    "outcome": 'Literal["works", "refused", "changed", "unreachable", "not_asked"]', "words": "str",
    "error_type": "str | None", "reason": "str | None", "reason_words": "str | None",
    "http_status": "int | None", "request_count": "int", "duration_ms": "int",
    "entity_id": "str | None", "keys_came": "list[str]", "keys_went": "list[str]",
    "observed_at": "str", "last_worked_at": "str | None", "used_by": "list[EndpointName]",
    "suffering": "list[EndpointName]", "read_instead": "str | None", "advice": "str | None"})
TableColumnDocument = TypedDict("TableColumnDocument", {"name": "str", "type": "str",
    "unit": "str | None", "meaning": "str", "may_be_unknown": "bool"})
TableDocument = TypedDict("TableDocument", {"name": "str", "row": "str", "key": "list[str]",
    "columns": "list[TableColumnDocument]"})
TableList = TypedDict("TableList", {"tables": "list[TableDocument]", "returned_count": "int",
    "is_demo_data": "bool"})
TrackGrowth = TypedDict("TrackGrowth", {"gained": "dict[str, int | None]",
    "followed_work_count": "int", "new_work_count": "int"})
WatchDigestList = TypedDict("WatchDigestList", {"digests": "list[dict[str, object]]",
    "returned_count": "int", "is_demo_data": "bool"})
WatchEntry = TypedDict("WatchEntry", {"kind": 'Literal["track", "account", "hashtag"]',
    "input": "str"})
WatchFiles = TypedDict("WatchFiles", {"json": "str", "html": "str"})
WatchRunDetail = TypedDict("WatchRunDetail", {"run_id": "str", "watchlist": "str",
    "status": 'Literal["due", "waiting", "completed", "failed", "skipped"]',
    "origin": 'Literal["api", "cli", "console", "schedule", "launchpad"]', "due_at": "str",
    "began_at": "str | None", "ended_at": "str | None", "missed_count": "int",
    "outcome": "str | None", "change_count": "int | None", "files": "WatchFiles | None",
    "told": "WebhookOutcome | None", "entries": "list[WatchRunEntry]",
    "digest": "dict[str, object] | None", "is_demo_data": "bool"})
WatchRunDocument = TypedDict("WatchRunDocument", {"run_id": "str", "watchlist": "str",
    "status": 'Literal["due", "waiting", "completed", "failed", "skipped"]',
    "origin": 'Literal["api", "cli", "console", "schedule", "launchpad"]', "due_at": "str",
    "began_at": "str | None", "ended_at": "str | None", "missed_count": "int",
    "outcome": "str | None", "change_count": "int | None", "files": "WatchFiles | None",
    "told": "WebhookOutcome | None"})
WatchRunEntry = TypedDict("WatchRunEntry", {"kind": 'Literal["track", "account", "hashtag"]',
    "input": "str", "status": 'Literal["due", "waiting", "completed", "failed"]',
    "subject": "str | None", "job_id": "str | None",
    "error": "ErrorDocument | dict[str, object] | None"})
WatchRunList = TypedDict("WatchRunList", {"runs": "list[WatchRunDocument]", "returned_count": "int",
    "is_demo_data": "bool"})
WatchThresholds = TypedDict("WatchThresholds", {"velocity": "float | None",
    "rank_change": "int | None", "new_music_id": "bool"})
WatchlistDeleted = TypedDict("WatchlistDeleted", {"name": "str", "deleted": "bool",
    "is_demo_data": "bool"})
WatchlistDocument = TypedDict("WatchlistDocument", {"name": "str", "every": "str",
    "entries": "list[WatchEntry]", "thresholds": "WatchThresholds",
    "parameters": "dict[str, object]", "enabled": "bool", "cron": "str",
    "next_due_at": "str | None", "last_run": "WatchRunDocument | None", "created_at": "str",
    "updated_at": "str", "is_demo_data": "bool"})
WatchlistList = TypedDict("WatchlistList", {"watchlists": "list[WatchlistDocument]",
    "returned_count": "int", "is_demo_data": "bool"})
WebhookOutcome = TypedDict("WebhookOutcome", {"host": "str | None", "status": "int | None",
    "error": "str | None"})
type JobRankingData = JobDocument
type JobPreviewData = JobPreview
type ComparisonsData = ComparisonList
type JobReadsData = JobReads
type WatchlistsData = WatchlistList
type WatchlistData = WatchlistDocument
type WatchlistDeletedData = WatchlistDeleted
type WatchRunData = WatchRunDetail
type WatchRunsData = WatchRunList
type WatchDigestsData = WatchDigestList
type CatalogsData = CatalogList
type CatalogData = CatalogDocument
type CatalogTracksData = CatalogTracks
type CatalogImportData = CatalogImport
type CatalogRemovedData = CatalogRemoved
type CatalogRunData = CatalogDocument
type CatalogCancelledData = CatalogCancelled
type ChartSongData = ChartSongComparison
type ChartLinksData = LinkDecisionList
type ChartJudgingData = SongLinkUpdate
type ComparisonData = ComparisonDocument
type AnnotationsData = AnnotationList
type NotesData = NoteList
type NoteData = NoteList
type SeriesData = Series
type StorageData = Storage
type QueriesData = QueryLibrary
type TablesData = TableList
type SqlData = SqlAnswer
type DoctorData = DoctorReport
type SettingsData = SettingList
type ExampleData = ExampleDocument
type ReferenceData = Reference
