"""Schemas for several videos by id: those read, and reasons for the others."""

from typing import Annotated, Literal

from pydantic import Field

from api.schemas.base_models import Provenance
from pipelines.documents.fields import ClosedDocument, Id
from pipelines.documents.video_types import VideoDocument


class FilteredVideo(ClosedDocument):
    """A video that could not be read. Nothing is filled in for it."""

    aweme_id: Id
    reason: Annotated[
        str,
        Field(description="`unavailable`, `deadline`, or the type of the upstream error"),
    ]
    filter_reason: Annotated[str | None, Field(description="the platform's own reason code")]
    notice: str | None
    detail_msg: str | None


class ManyVideos(Provenance):
    """Both lists keep the order of the request; each id is in exactly one of them."""

    aweme_list: list[VideoDocument]
    filter_list: list[FilteredVideo]
    thirdparty_called: Literal[False]
    mobile_emulator_used: bool
    signing_generated: Literal[False]
