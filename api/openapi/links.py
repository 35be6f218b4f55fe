"""OpenAPI links: which field of a response is a parameter of another operation.

For client generators and for tests that follow links.
"""

from collections.abc import Mapping
from typing import NamedTuple

from api.openapi.reference import operation_name
from api.responses.errors import ACCEPTED, OK
from warehouse.records.values import Document


class OperationLink(NamedTuple):
    """A link from the response of one operation to the request of another, by short names."""

    source: str
    status: int
    target: str
    parameters: Mapping[str, str]


_JOB = {"job_id": "$response.body#/data/job_id"}
_USER = {"sec_user_id": "$response.body#/data/sec_user_id"}
_PAGED = {
    "fetch_user_post_videos": ("sec_user_id", "max_cursor"),
    "fetch_music_video_list": ("music_id", "cursor"),
    "fetch_hashtag_video_list": ("ch_id", "cursor"),
}
"""Operations that return a page: the id of the list, and the cursor of the next page."""

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
    *(
        OperationLink(
            name,
            OK,
            name,
            {list_id: f"$request.query.{list_id}", cursor: f"$response.body#/data/{cursor}"},
        )
        for name, (list_id, cursor) in _PAGED.items()
    ),
)


def add_links(document: Document) -> None:
    """Add the links to the responses in an API description."""
    operations: dict[str, Document] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            name = operation_name(method.upper(), path, operation["operationId"])
            operations[name] = operation
    for link in LINKS:
        response = operations[link.source]["responses"][str(link.status)]
        response.setdefault("links", {})[link.target] = {
            "operationId": operations[link.target]["operationId"],
            "parameters": dict(link.parameters),
        }
