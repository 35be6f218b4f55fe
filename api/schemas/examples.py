"""Examples of the API description. They run as they stand, against any profile."""

from typing import Any

_MUSIC_ID = "7300000000000000001"

EXAMPLES: dict[str, dict[str, Any]] = {
    "fetch_music_hot_videos_api_v1_vidplat_app_v3_fetch_music_hot_videos_get": {
        "music_id": _MUSIC_ID,
        "count": 10,
    },
    "music_collection_jobs_api_v1_vidplat_app_v3_music_collection_jobs_post": {
        "body": {"input": _MUSIC_ID, "count": 10, "candidate_limit": 150},
    },
}
