"""OpenAPI links: which field of a response is a parameter of another operation.

For client generators and for tests that follow links.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from api.openapi.reference import operation_name
from api.responses.errors import ACCEPTED, OK
from warehouse.records.values import Document


@dataclass(frozen=True, slots=True)
class OperationLink:
    """A link from the response of one operation to the request of another, by short names."""

    source: str
    status: int
    target: str
    parameters: Mapping[str, str]


_JOB = {"job_id": "$response.body#/data/job_id"}
_USER = {"sec_user_id": "$response.body#/data/sec_user_id"}
_CURSOR = "$response.body#/data/cursor"

LINKS = (
    *(
        OperationLink(source, status, target, _JOB)
        for source, status in (
            ("music_collection_jobs", OK),
            ("music_collection_jobs", ACCEPTED),
            ("fetch_music_hot_videos", ACCEPTED),
        )
        for target in ("music_collection_job", "cancel_music_collection_job")
    ),
    OperationLink("music_collection_job", OK, "cancel_music_collection_job", _JOB),
    OperationLink("cancel_music_collection_job", OK, "music_collection_job", _JOB),
    *(
        OperationLink("get_sec_user_id", OK, target, _USER)
        for target in ("handler_user_profile", "fetch_user_post_videos", "fetch_user_metrics")
    ),
    OperationLink(
        "fetch_user_post_videos",
        OK,
        "fetch_user_post_videos",
        {
            "sec_user_id": "$request.query.sec_user_id",
            "max_cursor": "$response.body#/data/max_cursor",
        },
    ),
    OperationLink(
        "fetch_music_video_list",
        OK,
        "fetch_music_video_list",
        {"music_id": "$request.query.music_id", "cursor": _CURSOR},
    ),
    OperationLink(
        "fetch_hashtag_video_list",
        OK,
        "fetch_hashtag_video_list",
        {"ch_id": "$request.query.ch_id", "cursor": _CURSOR},
    ),
)


def add_links(document: Document) -> None:
    """Add the links to the responses in an API description."""
    operations = dict(_operations(document))
    for link in LINKS:
        response = operations[link.source]["responses"][str(link.status)]
        response.setdefault("links", {})[link.target] = {
            "operationId": operations[link.target]["operationId"],
            "parameters": dict(link.parameters),
        }


def _operations(document: Document) -> Iterator[tuple[str, Document]]:
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            yield operation_name(method.upper(), path, described["operationId"]), described
