"""The shapes of answers, for the API description and for tests."""

from api.schemas.answers import (
    CANCEL_ANSWERS,
    CREATE_JOB_ANSWERS,
    HOT_VIDEOS_ANSWERS,
    JOB_ANSWERS,
    JOB_LIST_ANSWERS,
    LATER_ANSWERS,
    PROTECTED_ANSWERS,
)
from api.schemas.bodies import MUSIC_SEARCH_BODY, VIDEO_SEARCH_BODY
from api.schemas.shape import Health, ReadinessReport

__all__ = [
    "CANCEL_ANSWERS",
    "CREATE_JOB_ANSWERS",
    "HOT_VIDEOS_ANSWERS",
    "JOB_ANSWERS",
    "JOB_LIST_ANSWERS",
    "LATER_ANSWERS",
    "MUSIC_SEARCH_BODY",
    "PROTECTED_ANSWERS",
    "VIDEO_SEARCH_BODY",
    "Health",
    "ReadinessReport",
]
