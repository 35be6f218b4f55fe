"""Examples for the API description: requests that work as shown, and complete responses.

The JSON files are real responses of this service; tests check them against the schemas.
"""

import json
from pathlib import Path

from api.responses.errors import ACCEPTED, OK
from warehouse.records.values import Document

_FOLDER = Path(__file__).parent
_V3 = "/api/v1/vidplat/app/v3"
_MUSIC_ID = "7348759830572834348"
_OTHER_MUSIC_ID = "7342451722773117559"
_VIDEO_IDS = ["7495841464336754102", "7357327081542359155", "7447212238755901880"]
_SEC_USER_ID = "MS4wLjABAAAATeMsMjRZ1rzVHVBI8eiaxncD1xdgADCOcAuztBTxQow"
_CH_ID = "1897292724585310112"
_SONG_KEY = "hash:890f4b7f875281c010c0ef117d421673"
"""The ids above exist in the sandbox of the default seed on every day, and in `mock`."""
_JOB = {"job_id": "7d2f0c1e-52f5-4a53-9a0b-0f3f6c1b8a11"}
_COMPARISON = {"comparison_id": "3f1c9a52-6d0e-4b7a-9c54-0a7d3f2b8e61"}
_WATCHLIST = {"name": "five-songs"}
_CATALOG = {"name": "spring-releases"}

EXAMPLES: dict[str, Document] = {
    "fetch_music_hot_videos": {"music_id": _MUSIC_ID, "count": 10},
    "fetch_music_hot_videos_batch": {
        "body": {"inputs": [_MUSIC_ID, _OTHER_MUSIC_ID], "count": 10},
    },
    "discover_music_related_videos": {"music_id": _MUSIC_ID},
    "music_collection_jobs": {"body": {"input": _MUSIC_ID, "count": 10, "candidate_limit": 150}},
    "fetch_multi_video_web": {"body": _VIDEO_IDS},
    "fetch_multi_video_app": {"body": _VIDEO_IDS},
    "chart_history": {"start_date": "2022-03-01", "end_date": "2022-03-11"},
    "get_sec_user_id": {"url": _SEC_USER_ID},
    "handler_user_profile": {"sec_user_id": _SEC_USER_ID},
    "fetch_user_post_videos": {"sec_user_id": _SEC_USER_ID, "count": 10},
    "fetch_user_metrics": {"sec_user_id": _SEC_USER_ID, "days": 30},
    "fetch_music_video_list": {"music_id": _MUSIC_ID},
    "fetch_hashtag_video_list": {"ch_id": _CH_ID},
    **dict.fromkeys(
        (
            "music_collection_job", "cancel_music_collection_job", "sametrack_job_events",
            "sametrack_job_comparisons", "sametrack_job_plots", "sametrack_job_preview",
            "sametrack_job_reads",
        ),
        _JOB,
    ),
    "sametrack_job_report": {**_JOB, "language": "zh"},
    "sametrack_track_report": {"music_id": _MUSIC_ID, "language": "zh"},
    "sametrack_job_ranking": {**_JOB, "sort_by": "latest"},
    **dict.fromkeys(
        (
            "sametrack_annotations", "sametrack_comparison", "sametrack_comparison_svg",
            "sametrack_comparison_png",
        ),
        _COMPARISON,
    ),
    "sametrack_comparison_excerpt": {**_COMPARISON, "role": "candidate"},
    "sametrack_video_excerpt": {"aweme_id": _VIDEO_IDS[0]},
    "sametrack_annotate": {
        **_COMPARISON,
        "body": {"verdict": "same", "note": "the same take, a louder master"},
    },
    "sametrack_track": {"music_id": _MUSIC_ID},
    "sametrack_series": {"kind": "track", "entity_id": _MUSIC_ID},
    "sametrack_note": {
        "body": {"kind": "track", "id": _MUSIC_ID, "note": "ask the label", "tags": ["June"]},
    },
    "sametrack_shared_create": {"body": {"id": _JOB["job_id"], "days": 14}},
    "sametrack_shared_revoke": {"link_id": "9f2b7c1d04e84a6fb35d2c8e71a0f6b3"},
    "sametrack_picture": {"kind": "track", "entity_id": _MUSIC_ID},
    "sametrack_export": {
        "source": f"{_V3}/fetch_music_video_list?music_id={_MUSIC_ID}",
        "table": "videos",
        "form": "csv",
    },
    "sametrack_sql": {"body": {"query": "top-videos", "parameters": {"top": 5}}},
    "sametrack_sql_export": {
        "body": {
            "sql": "select surface, sum(requests) as requests from marts.coverage group by surface",
            "form": "csv",
        },
    },
    "sametrack_watchlist_create": {
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
    "sametrack_watchlist_change": {**_WATCHLIST, "body": {"every": "daily", "enabled": False}},
    **dict.fromkeys(
        (
            "sametrack_watchlist", "sametrack_watchlist_delete", "sametrack_watchlist_run",
            "sametrack_watchlist_runs", "sametrack_watchlist_digests",
        ),
        _WATCHLIST,
    ),
    "sametrack_alert_channel_create": {
        "body": {
            "name": "team-chat",
            "url": "json://hooks.example.com/alerts",
            "language": "en",
        },
    },
    "sametrack_alert_channel_test": {"name": "team-chat"},
    "sametrack_alert_channel_delete": {"name": "team-chat"},
    "sametrack_watchlist_run_of": {
        **_WATCHLIST,
        "run_id": "5b0d6a3e-2f0c-4a1d-8f5b-6a0c7d9e1b24",
    },
    "sametrack_catalog_import": {
        **_CATALOG,
        "body": {
            "rows": [
                {"track": _MUSIC_ID, "title": "Paper Boats", "artist": "Lin", "release": "R-17"}
            ],
            "tracks_per_day": 200,
        },
    },
    **dict.fromkeys(
        (
            "sametrack_catalog", "sametrack_catalog_tracks", "sametrack_catalog_remove",
            "sametrack_catalog_run", "sametrack_catalog_cancel",
        ),
        _CATALOG,
    ),
    "sametrack_chart_song": {"song_key": _SONG_KEY},
    "sametrack_chart_link": {
        "body": {
            "song_key": _SONG_KEY,
            "music_id": _MUSIC_ID,
            "said": "different",
            "said_by": "Lin",
            "note": "another song of that name",
        },
    },
}  # fmt: skip
"""Parameters and body of a request, by the short name of its operation."""

RESPONSE_EXAMPLES: dict[str, dict[int, str]] = {
    "fetch_music_hot_videos": {
        OK: "fetch_music_hot_videos",
        ACCEPTED: "music_collection_job_started",
    },
    "music_collection_jobs": {
        OK: "music_collection_job",
        ACCEPTED: "music_collection_job_started",
    },
    "fetch_multi_video_web": {OK: "fetch_multi_video"},
    "fetch_multi_video_app": {OK: "fetch_multi_video"},
    "chart_history": {OK: "history"},
    **{
        name: {OK: name}
        for name in (
            "music_collection_job", "sametrack_comparison", "get_sec_user_id",
            "handler_user_profile", "fetch_user_post_videos", "fetch_user_metrics",
            "fetch_music_video_list", "fetch_hashtag_video_list",
        )
    },
}  # fmt: skip
"""Names of the files with the responses of an operation, by status."""


def read_example(name: str) -> Document:
    """Return a complete example response."""
    document: Document = json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return document
