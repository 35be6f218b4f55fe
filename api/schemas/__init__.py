"""The shapes of answers, for the API description and for tests."""

from api.schemas.answers import (
    ANNOTATE_ANSWERS,
    ANNOTATIONS_ANSWERS,
    BATCH_ANSWERS,
    CANCEL_ANSWERS,
    COMPARISON_ANSWERS,
    CREATE_JOB_ANSWERS,
    DOCTOR_ANSWERS,
    EXCERPT_ANSWERS,
    HOT_VIDEOS_ANSWERS,
    JOB_ANSWERS,
    JOB_EVENTS_ANSWERS,
    JOB_LIST_ANSWERS,
    LATER_ANSWERS,
    PNG_ANSWERS,
    PROTECTED_ANSWERS,
    SVG_ANSWERS,
)
from api.schemas.bodies import MUSIC_SEARCH_BODY, VIDEO_SEARCH_BODY
from api.schemas.shape import Health, ReadinessReport

__all__ = [
    "ANNOTATE_ANSWERS",
    "ANNOTATIONS_ANSWERS",
    "BATCH_ANSWERS",
    "CANCEL_ANSWERS",
    "COMPARISON_ANSWERS",
    "CREATE_JOB_ANSWERS",
    "DOCTOR_ANSWERS",
    "EXCERPT_ANSWERS",
    "HOT_VIDEOS_ANSWERS",
    "JOB_ANSWERS",
    "JOB_EVENTS_ANSWERS",
    "JOB_LIST_ANSWERS",
    "LATER_ANSWERS",
    "MUSIC_SEARCH_BODY",
    "PNG_ANSWERS",
    "PROTECTED_ANSWERS",
    "SVG_ANSWERS",
    "VIDEO_SEARCH_BODY",
    "Health",
    "ReadinessReport",
]
