"""Responses of each operation for the API description: statuses, bodies, headers."""

from typing import Any

from api.responses.errors import ACCEPTED, ANSWERS, NO_CONTENT, NOT_MODIFIED, OK, PARTIAL_CONTENT
from api.schemas.chart import ChartHistory
from api.schemas.extensions.doctor import DoctorReport
from api.schemas.extensions.evidence import AnnotationList, ComparisonDocument
from api.schemas.extensions.exports import ComparisonList, JobReads, Series, Storage
from api.schemas.extensions.reference import Reference
from api.schemas.lists import CreatorMetrics, CursorList, PostList, ResolvedUser, UserProfile
from api.schemas.many_videos import ManyVideos
from api.schemas.result import Batch, DiscoveryAnswer, HotVideosAnswer, JobDocument, JobList
from api.schemas.shape import Envelope, Failure
from warehouse.exports.table_files import MEDIA_TYPES

type Answers = dict[int | str, dict[str, Any]]

EVERYWHERE = (
    "unauthorized",
    "cross_site_request",
    "host_not_allowed",
    "local_rate_limit",
    "internal_error",
)
BAD_PARAMETERS = ("missing_parameter", "invalid_parameter", "unknown_parameter")
BAD_BODY = ("malformed_json", "body_too_large", "unsupported_media_type")
NO_SCAN = (
    "provider_unsupported",
    "profile_not_chosen",
    "warehouse_unavailable",
    "capacity_exhausted",
)
NO_READ = ("provider_unsupported", "profile_not_chosen", "warehouse_unavailable")
UPSTREAM = tuple(name for name in ANSWERS if name.startswith("upstream_"))
_HEADERS = {
    "X-Request-ID": ("same as `request_id`", "string"),
    "Location": ("path to poll the job", "string"),
    "Retry-After": ("recommended seconds to wait before a retry", "integer"),
    "ETag": ("weak ETag of `data`", "string"),
    "WWW-Authenticate": ("Bearer", "string"),
}


def headers(*names: str) -> dict[str, Any]:
    """Return descriptions of response headers."""
    return {
        name: {"description": _HEADERS[name][0], "schema": {"type": _HEADERS[name][1]}}
        for name in ("X-Request-ID", *names)
    }


def failures(*types: str) -> Answers:
    """Return error responses by status; their descriptions list the error types."""
    by_status: dict[int, list[str]] = {}
    for name in sorted({*types, *EVERYWHERE}, key=list(ANSWERS).index):
        by_status.setdefault(ANSWERS[name].status, []).append(name)
    return {status: _failure(names) for status, names in by_status.items()}


def _failure(names: list[str]) -> dict[str, Any]:
    lines = [f"`{name}`: {ANSWERS[name].message}. {ANSWERS[name].message_zh}." for name in names]
    more: tuple[str, ...] = ("WWW-Authenticate",) if "unauthorized" in names else ()
    may_wait = "local_rate_limit" in names or set(names) & {*UPSTREAM, *NO_SCAN}
    more += ("Retry-After",) if may_wait else ()
    return {
        "model": Envelope[Failure],
        "description": "\n\n".join(lines),
        "headers": headers(*more),
    }


def _good(model: Any, description: str, *names: str) -> dict[str, Any]:
    return {"model": model, "description": description, "headers": headers(*names)}


def _file(media_type: str, description: str) -> dict[str, Any]:
    schema = {"type": "string", "contentMediaType": media_type}
    return {
        "description": description,
        "headers": headers(),
        "content": {media_type: {"schema": schema}},
    }


_JOB = Envelope[JobDocument]
_UNCHANGED: Answers = {
    NOT_MODIFIED: {"description": "`data` matches If-None-Match", "headers": headers("ETag")}
}
_STARTED = _good(_JOB, "Started or joined job", "Location", "Retry-After")

HOT_VIDEOS_ANSWERS: Answers = {
    OK: _good(Envelope[HotVideosAnswer], "Ranking from a stored result", "ETag"),
    ACCEPTED: _STARTED,
    **_UNCHANGED,
    **failures(
        *BAD_PARAMETERS, "invalid_music_input", *NO_SCAN, "worker_unavailable", *UPSTREAM,
        "audio_unavailable",
    ),
}  # fmt: skip
DISCOVERY_ANSWERS: Answers = {
    OK: _good(Envelope[DiscoveryAnswer], "Verified matches and all candidates", "ETag"),
    **_UNCHANGED,
    **failures(
        *BAD_PARAMETERS, "invalid_music_input", *NO_SCAN, "worker_unavailable", *UPSTREAM,
        "audio_unavailable",
    ),
}  # fmt: skip
CREATE_JOB_ANSWERS: Answers = {
    OK: _good(_JOB, "Completed job with a valid stored result", "Location"),
    ACCEPTED: _STARTED,
    **failures(*BAD_PARAMETERS, *BAD_BODY, "invalid_music_input", *NO_SCAN),
}
BATCH_ANSWERS: Answers = {
    OK: _good(Envelope[Batch], "Each item with its job, stored result or error"),
    **failures(*BAD_PARAMETERS, *BAD_BODY, "invalid_inputs", *NO_SCAN),
}
_JOB_FAILURES = failures(
    "unknown_parameter", "job_not_found", "profile_not_chosen", "warehouse_unavailable"
)
JOB_ANSWERS: Answers = {
    OK: _good(_JOB, "Current state of the job", "ETag", "Retry-After"),
    **_UNCHANGED,
    **_JOB_FAILURES,
}
CANCEL_ANSWERS: Answers = {OK: _good(_JOB, "Job after the cancellation request"), **_JOB_FAILURES}
JOB_EVENTS_ANSWERS: Answers = {
    OK: _file("text/event-stream", "Events with the `data` of the polling operation"),
    NO_CONTENT: {"description": "The client already has the final state", "headers": headers()},
    **failures(
        "unknown_parameter",
        "job_not_found",
        "warehouse_unavailable",
        "profile_not_chosen",
        "capacity_exhausted",
    ),
}
JOB_LIST_ANSWERS: Answers = {
    OK: _good(Envelope[JobList], "Newest jobs", "ETag"),
    **_UNCHANGED,
    **failures(
        "invalid_parameter", "unknown_parameter", "profile_not_chosen", "warehouse_unavailable"
    ),
}
_COMPARISON_FAILURES = failures(
    "unknown_parameter", "not_found", "profile_not_chosen", "warehouse_unavailable"
)
COMPARISON_ANSWERS: Answers = {
    OK: _good(Envelope[ComparisonDocument], "Stored measurements", "ETag"),
    **_UNCHANGED,
    **_COMPARISON_FAILURES,
}
ANNOTATIONS_ANSWERS: Answers = {
    OK: _good(Envelope[AnnotationList], "Annotations of the pair", "ETag"),
    **_UNCHANGED,
    **_COMPARISON_FAILURES,
}
ANNOTATE_ANSWERS: Answers = {
    OK: _good(Envelope[AnnotationList], "Annotations of the pair, including the new one"),
    **_COMPARISON_FAILURES,
    **failures(*BAD_PARAMETERS, *BAD_BODY),
}
SVG_ANSWERS: Answers = {OK: _file("image/svg+xml", "Evidence plot"), **_COMPARISON_FAILURES}
PNG_ANSWERS: Answers = {OK: _file("image/png", "Evidence plot"), **_COMPARISON_FAILURES}
EXCERPT_ANSWERS: Answers = {
    OK: _file("audio/mpeg", "Audio excerpt of at most ten seconds, mono"),
    PARTIAL_CONTENT: _file("audio/mpeg", "The bytes requested by `Range`"),
    **_COMPARISON_FAILURES,
    **failures("invalid_parameter", "unknown_parameter"),
}
DOCTOR_ANSWERS: Answers = {
    OK: _good(Envelope[DoctorReport], "Last probe of every surface", "ETag"),
    **_UNCHANGED,
    **failures("unknown_parameter", "profile_not_chosen", "warehouse_unavailable"),
}
REFERENCE_ANSWERS: Answers = {
    OK: _good(Envelope[Reference], "All operations and error types", "ETag"),
    **_UNCHANGED,
    **failures("unknown_parameter"),
}
VIDEOS_ANSWERS: Answers = {
    OK: _good(Envelope[ManyVideos], "Videos that were read, and reasons for the others"),
    **failures(
        "invalid_video_ids", "unknown_parameter", "body_too_large", "unsupported_media_type",
        *NO_READ,
    ),
}  # fmt: skip
CHART_ANSWERS: Answers = {
    OK: _good(Envelope[ChartHistory], "One issue per node", "ETag", "Retry-After"),
    **_UNCHANGED,
    **failures(*BAD_PARAMETERS, "invalid_date_range", *NO_READ, "chart_unavailable", *UPSTREAM),
}
COMPARISONS_ANSWERS: Answers = {
    OK: _good(Envelope[ComparisonList], "Compared pairs", "ETag"),
    **_UNCHANGED,
    **failures("unknown_parameter", "job_not_found", "profile_not_chosen", "warehouse_unavailable"),
}
JOB_READS_ANSWERS: Answers = {
    OK: _good(Envelope[JobReads], "Reads by surface and outcome", "ETag"),
    **_UNCHANGED,
    **failures("unknown_parameter", "job_not_found", "profile_not_chosen", "warehouse_unavailable"),
}
SERIES_ANSWERS: Answers = {
    OK: _good(Envelope[Series], "Points over time, oldest first", "ETag"),
    **_UNCHANGED,
    **failures(
        "invalid_parameter", "unknown_parameter", "profile_not_chosen", "warehouse_unavailable"
    ),
}
STORAGE_ANSWERS: Answers = {
    OK: _good(Envelope[Storage], "Storage and request budget", "ETag"),
    **_UNCHANGED,
    **failures("unknown_parameter", "profile_not_chosen", "warehouse_unavailable"),
}
EXPORT_ANSWERS: Answers = {
    OK: {
        "description": "The exported file, named by `Content-Disposition`",
        "headers": headers(),
        "content": {
            media_type.partition(";")[0]: {"schema": {"type": "string"}}
            for media_type in MEDIA_TYPES.values()
        },
    },
    **failures(
        *BAD_PARAMETERS, "job_not_found", "not_found", "invalid_date_range", *NO_READ,
        "chart_unavailable", *UPSTREAM,
    ),
}  # fmt: skip
_USER_FAILURES = failures(*BAD_PARAMETERS, "unresolvable_sec_user_id", *NO_READ, *UPSTREAM)
RESOLVE_ANSWERS: Answers = {
    OK: _good(Envelope[ResolvedUser], "Resolved account", "ETag"),
    **_UNCHANGED,
    **_USER_FAILURES,
}
PROFILE_ANSWERS: Answers = {
    OK: _good(Envelope[UserProfile], "Account profile", "ETag"),
    **_UNCHANGED,
    **_USER_FAILURES,
}
POSTS_ANSWERS: Answers = {
    OK: _good(Envelope[PostList], "Page of posts", "ETag"),
    **_UNCHANGED,
    **_USER_FAILURES,
}
METRICS_ANSWERS: Answers = {
    OK: _good(Envelope[CreatorMetrics], "Engagement of the newest videos in the window", "ETag"),
    **_UNCHANGED,
    **_USER_FAILURES,
}
MUSIC_LIST_ANSWERS: Answers = {
    OK: _good(Envelope[CursorList], "Page of the observed union", "ETag"),
    **_UNCHANGED,
    **failures(*BAD_PARAMETERS, "invalid_music_input", *NO_READ, *UPSTREAM),
}
HASHTAG_LIST_ANSWERS: Answers = {
    OK: _good(Envelope[CursorList], "Page of the observed union", "ETag"),
    **_UNCHANGED,
    **failures(*BAD_PARAMETERS, *NO_READ, *UPSTREAM),
}
PROTECTED_ANSWERS: Answers = failures("platform_verification_required", "body_too_large")
