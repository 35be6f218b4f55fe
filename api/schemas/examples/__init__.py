"""Examples for the API description: requests that work as shown, and complete responses.

The JSON files are real responses of this service; tests check them against the schemas.
"""

import json
from pathlib import Path

from api.responses.errors import ACCEPTED, OK
from warehouse.records.values import Document

_FOLDER = Path(__file__).parent
_JOBS = "api_v1_vidplat_app_v3_music_collection_jobs"
_BATCH = "api_v1_vidplat_app_v3_fetch_music_hot_videos_batch"
_COMPARISON = "api_v1_sametrack_comparisons__comparison_id_"
_COMPARISON_ID = "3f1c9a52-6d0e-4b7a-9c54-0a7d3f2b8e61"
_MUSIC_ID = "7300000000000000001"
_WEB_VIDEOS = "fetch_multi_video_web_api_v1_vidplat_web_fetch_multi_video_post"
_APP_VIDEOS = "fetch_multi_video_api_v1_vidplat_app_v3_fetch_multi_video_post"
_CHART = "history_api_v1_music_chartsrc_top500_history_get"
_VIDEO_IDS = ["7208449004045270001", "7210004958455330552", "7317824963743725696"]
_JOB_ID = "7d2f0c1e-52f5-4a53-9a0b-0f3f6c1b8a11"
_SEC_USER_ID = "MS4wLjABAAAATeMsMjRZ1rzVHVBI8eiaxncD1xdgADCOcAuztBTxQow"
_SEEN_MUSIC_ID = "7348759830572834348"
_CH_ID = "1897292724585310112"
_SONG_KEY = "hash:890f4b7f875281c010c0ef117d421673"
"""The ids above exist in the demo data of `DATA_PROVIDER=mock`, so the requests return data."""
_RUN_ID = "5b0d6a3e-2f0c-4a1d-8f5b-6a0c7d9e1b24"
_WATCHLIST = {"name": "five-songs"}
_CATALOGS = "api_v1_sametrack_catalogs__name_"
_CATALOG = {"name": "spring-releases"}
_WATCHLISTS = "api_v1_sametrack_watchlists__name_"
_V3 = "api_v1_vidplat_app_v3"
_JOB = "api_v1_sametrack_jobs__job_id_"

EXAMPLES: dict[str, Document] = {
    "fetch_music_hot_videos_api_v1_vidplat_app_v3_fetch_music_hot_videos_get": {
        "music_id": _MUSIC_ID,
        "count": 10,
    },
    "get_sec_user_id_api_v1_vidplat_web_get_sec_user_id_get": {"url": _SEC_USER_ID},
    f"handler_user_profile_{_V3}_handler_user_profile_get": {"sec_user_id": _SEC_USER_ID},
    f"fetch_user_post_videos_{_V3}_fetch_user_post_videos_get": {
        "sec_user_id": _SEC_USER_ID,
        "count": 10,
    },
    f"fetch_user_metrics_{_V3}_fetch_user_metrics_get": {"sec_user_id": _SEC_USER_ID, "days": 30},
    f"fetch_music_video_list_{_V3}_fetch_music_video_list_get": {"music_id": _SEEN_MUSIC_ID},
    f"fetch_hashtag_video_list_{_V3}_fetch_hashtag_video_list_get": {"ch_id": _CH_ID},
    f"discover_music_related_videos_{_V3}_discover_music_related_videos_get": {
        "music_id": _SEEN_MUSIC_ID,
    },
    f"music_collection_job_{_JOBS}__job_id__get": {"job_id": _JOB_ID},
    f"cancel_music_collection_job_{_JOBS}__job_id__delete": {"job_id": _JOB_ID},
    f"sametrack_job_events_{_JOB}_events_get": {"job_id": _JOB_ID},
    f"sametrack_annotate_{_COMPARISON}_annotations_post": {
        "comparison_id": _COMPARISON_ID,
        "body": {"verdict": "same", "note": "the same take, a louder master"},
    },
    f"sametrack_annotations_{_COMPARISON}_annotations_get": {"comparison_id": _COMPARISON_ID},
    f"sametrack_comparison_{_COMPARISON}_get": {"comparison_id": _COMPARISON_ID},
    f"sametrack_comparison_svg_{_COMPARISON}_picture_svg_get": {"comparison_id": _COMPARISON_ID},
    f"sametrack_comparison_png_{_COMPARISON}_picture_png_get": {"comparison_id": _COMPARISON_ID},
    f"sametrack_comparison_excerpt_{_COMPARISON}_excerpt__role__get": {
        "comparison_id": _COMPARISON_ID,
        "role": "candidate",
    },
    f"sametrack_job_comparisons_{_JOB}_comparisons_get": {"job_id": _JOB_ID},
    f"sametrack_job_preview_{_JOB}_preview_get": {"job_id": _JOB_ID},
    f"sametrack_job_report_{_JOB}_report_get": {"job_id": _JOB_ID, "language": "zh"},
    f"sametrack_job_reads_{_JOB}_reads_get": {"job_id": _JOB_ID},
    f"sametrack_job_ranking_{_JOB}_ranking_get": {"job_id": _JOB_ID, "sort_by": "latest"},
    "sametrack_series_api_v1_sametrack_series__kind___entity_id__get": {
        "kind": "track",
        "entity_id": _SEEN_MUSIC_ID,
    },
    "sametrack_note_api_v1_sametrack_notes_post": {
        "body": {"kind": "track", "id": _MUSIC_ID, "note": "ask the label", "tags": ["June"]},
    },
    "sametrack_picture_api_v1_sametrack_pictures__kind___entity_id__get": {
        "kind": "track",
        "entity_id": _SEEN_MUSIC_ID,
    },
    "sametrack_export_api_v1_sametrack_export_get": {
        "source": f"/api/v1/vidplat/app/v3/fetch_music_video_list?music_id={_SEEN_MUSIC_ID}",
        "table": "videos",
        "form": "csv",
    },
    "sametrack_sql_api_v1_sametrack_sql_post": {
        "body": {"query": "top-videos", "parameters": {"top": 5}},
    },
    "sametrack_sql_export_api_v1_sametrack_sql_export_post": {
        "body": {
            "sql": "select surface, sum(requests) as requests from marts.coverage group by surface",
            "form": "csv",
        },
    },
    "sametrack_watchlist_create_api_v1_sametrack_watchlists_post": {
        "body": {
            "name": "five-songs",
            "every": "every 6 hours",
            "entries": [
                {"kind": "track", "input": _MUSIC_ID},
                {"kind": "hashtag", "input": _CH_ID},
            ],
            "thresholds": {"velocity": 1000, "rank_change": 3, "new_music_id": True},
            "parameters": {"candidate_limit": 150},
        },
    },
    f"sametrack_watchlist_change_{_WATCHLISTS}_patch": {
        **_WATCHLIST,
        "body": {"every": "daily", "enabled": False},
    },
    f"sametrack_watchlist_{_WATCHLISTS}_get": _WATCHLIST,
    f"sametrack_watchlist_delete_{_WATCHLISTS}_delete": _WATCHLIST,
    f"sametrack_watchlist_run_{_WATCHLISTS}_runs_post": _WATCHLIST,
    f"sametrack_watchlist_runs_{_WATCHLISTS}_runs_get": _WATCHLIST,
    f"sametrack_watchlist_run_of_{_WATCHLISTS}_runs__run_id__get": {
        **_WATCHLIST,
        "run_id": _RUN_ID,
    },
    f"sametrack_watchlist_digests_{_WATCHLISTS}_digests_get": _WATCHLIST,
    f"sametrack_catalog_import_{_CATALOGS}_tracks_post": {
        **_CATALOG,
        "body": {
            "rows": [
                {"track": _MUSIC_ID, "title": "Paper Boats", "artist": "Lin", "release": "R-17"}
            ],
            "tracks_per_day": 200,
        },
    },
    f"sametrack_catalog_{_CATALOGS}_get": _CATALOG,
    f"sametrack_catalog_tracks_{_CATALOGS}_tracks_get": _CATALOG,
    f"sametrack_catalog_remove_{_CATALOGS}_delete": _CATALOG,
    f"sametrack_catalog_run_{_CATALOGS}_runs_post": _CATALOG,
    f"sametrack_catalog_cancel_{_CATALOGS}_runs_delete": _CATALOG,
    "sametrack_chart_song_api_v1_sametrack_chart_songs__song_key__get": {"song_key": _SONG_KEY},
    "sametrack_chart_link_api_v1_sametrack_chart_links_post": {
        "body": {
            "song_key": _SONG_KEY,
            "music_id": _SEEN_MUSIC_ID,
            "said": "different",
            "said_by": "Lin",
            "note": "another song of that name",
        },
    },
    f"music_collection_jobs_{_JOBS}_post": {
        "body": {"input": _MUSIC_ID, "count": 10, "candidate_limit": 150},
    },
    f"fetch_music_hot_videos_batch_{_BATCH}_post": {
        "body": {"inputs": [_MUSIC_ID, "7300000000000000002"], "count": 10},
    },
    _WEB_VIDEOS: {"body": _VIDEO_IDS},
    _APP_VIDEOS: {"body": _VIDEO_IDS},
    _CHART: {"start_date": "2022-03-01", "end_date": "2022-03-11"},
}
RESPONSE_EXAMPLES: dict[str, dict[int, str]] = {
    "fetch_music_hot_videos_api_v1_vidplat_app_v3_fetch_music_hot_videos_get": {
        OK: "fetch_music_hot_videos",
        ACCEPTED: "music_collection_job_started",
    },
    f"music_collection_jobs_{_JOBS}_post": {
        OK: "music_collection_job",
        ACCEPTED: "music_collection_job_started",
    },
    f"music_collection_job_{_JOBS}__job_id__get": {OK: "music_collection_job"},
    f"sametrack_comparison_{_COMPARISON}_get": {OK: "sametrack_comparison"},
    _WEB_VIDEOS: {OK: "fetch_multi_video"},
    _APP_VIDEOS: {OK: "fetch_multi_video"},
    _CHART: {OK: "history"},
    "get_sec_user_id_api_v1_vidplat_web_get_sec_user_id_get": {OK: "get_sec_user_id"},
    **{
        f"{name}_{_V3}_{name}_get": {OK: name}
        for name in (
            "handler_user_profile", "fetch_user_post_videos", "fetch_user_metrics",
            "fetch_music_video_list", "fetch_hashtag_video_list",
        )
    },
}  # fmt: skip


def read_example(name: str) -> Document:
    """Return a complete example response."""
    document: Document = json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return document
