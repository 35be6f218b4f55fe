"""Body and query of the read-only links."""

from typing import Annotated

from pydantic import Field, StrictInt

from api.params.fields import PrintableText, QueryModel, StrictModel
from warehouse.control.access.shared_links import SharedLinkKind

DEFAULT_DAYS = 30
MAX_DAYS = 365
_Id = Annotated[PrintableText, Field(min_length=1, max_length=200)]
_ID_MEANING = "id of a completed job, or music id. 已完成任务的 ID，或音乐 ID"


class SharedLinkBody(StrictModel):
    """Body of a new read-only link."""

    kind: SharedLinkKind = Field("result", description="what the link shows. 分享内容的种类")
    id: _Id = Field(description=_ID_MEANING)
    days: StrictInt = Field(
        DEFAULT_DAYS, ge=1, le=MAX_DAYS, description="days until it ends. 有效天数"
    )


class SharedLinksQuery(QueryModel):
    """Query of the read-only links."""

    kind: SharedLinkKind | None = Field(None, description="only links to these. 仅此种类")
    id: _Id | None = Field(None, description=f"only links to this: {_ID_MEANING}")
