"""Schemas for read-only links."""

from typing import Annotated

from pydantic import Field

from pipelines.documents.fields import ClosedDocument, Count, Timestamp
from warehouse.control.access.shared_links import SharedLinkKind


class SharedLinkDocument(ClosedDocument):
    """A read-only link. Whoever has its address sees what it shows, and nothing else."""

    link_id: str
    kind: SharedLinkKind
    id: Annotated[str, Field(description="id of what it shows: of a job, or music id")]
    path: Annotated[
        str, Field(description="address of the page on this service", examples=["/shared/Im…"])
    ]
    created_by: Annotated[
        str | None, Field(description="name or role of the token; null: no token was set")
    ]
    created_at: Timestamp
    expires_at: Timestamp
    last_used_at: Annotated[Timestamp | None, Field(description="null: not opened yet")]
    is_demo_data: bool


class SharedLinkList(ClosedDocument):
    """Links that have neither expired nor been revoked, newest first."""

    links: list[SharedLinkDocument]
    returned_count: Count
    is_demo_data: bool


class SharedLinkRevoked(ClosedDocument):
    """A revoked link: its page is gone."""

    link_id: str
    is_revoked: bool
    is_demo_data: bool
