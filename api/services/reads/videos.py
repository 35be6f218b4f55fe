"""Several videos by id: fresh observations from the store, the others read now.

Decides which are read, which are returned, and why others are not. Not here: the accepted bodies
(`pipelines.parameters.video_ids`), HTTP (`api/routes/videos.py`).
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from anyio.to_thread import run_sync

from api.responses.errors import answer_of
from api.services.reads.deadline import Deadline, Readings
from api.services.reads.read_result import marked
from api.services.reads.sources import STAND_IN, Sources
from pipelines.captures.freshness import is_fresh
from pipelines.captures.session import Detail
from pipelines.documents.videos import Document, to_video_document
from warehouse.queries.videos import Listed, read_listed
from warehouse.records.errors import SametrackError, UpstreamError
from warehouse.records.videos import APP_SURFACES, UnavailableVideo, Video, VideoDetail

SURFACE = "video_page"
AT_ONCE = 8
"""Parallel reads per request; the rate limit per host applies in addition."""

LATE = "deadline"
NEVER: Document = {"thirdparty_called": False, "signing_generated": False}


async def read_videos(
    sources: Sources, aweme_ids: Sequence[str], *, deadline: Deadline
) -> Document:
    """Return the `data` of the multi-video operations, in the order of the ids.

    Raises:
        ProviderUnsupportedError: The configured source cannot read videos.
        WarehouseError: A store is unavailable.
    """
    listed = await run_sync(read_listed, sources.engine, aweme_ids)
    fresh = {name: one for name, one in listed.items() if _is_fresh(one.video, sources)}
    missing = [name for name in aweme_ids if name not in fresh]
    read: Readings[str, Detail] = Readings()
    has_stand_ins = False
    if missing:
        async with sources.users() as captures:
            read = await deadline.each(missing, captures.video, parallel=AT_ONCE)
            has_stand_ins = captures.has_stand_ins
    _raise_what_is_not_about_one_work(read)
    entries = [_entry(name, listed.get(name), read) for name in aweme_ids]
    document: Document = {
        "aweme_list": [document for document, is_served in entries if is_served],
        "filter_list": [document for document, is_served in entries if not is_served],
        **NEVER,
        "mobile_emulator_used": any(_is_from_app(name, listed, read) for name in aweme_ids),
    }
    return marked(
        document,
        data_provider=STAND_IN if has_stand_ins else sources.data_provider,
        is_demo=sources.is_demo or has_stand_ins,
    )


def _entry(
    aweme_id: str, known: Listed | None, read: Readings[str, Detail]
) -> tuple[Document, bool]:
    """Return the document of one video, and whether it was read."""
    first = None if known is None else known.first_observed_at
    if aweme_id in read.errors:
        return _refused(aweme_id, read.errors[aweme_id]), False
    found = read.values.get(aweme_id)
    if isinstance(found, UnavailableVideo):
        return _unavailable(found), False
    if found is not None:
        return to_video_document(found.video, first_observed_at=first), True
    if known is not None and aweme_id not in read.late:
        return to_video_document(known.video, first_observed_at=first), True
    return _late(aweme_id), False


def _is_from_app(aweme_id: str, listed: Mapping[str, Listed], read: Readings[str, Detail]) -> bool:
    """Return whether the returned record of a video was ever observed on a device."""
    found = read.values.get(aweme_id)
    if isinstance(found, VideoDetail):
        return found.video.surface in APP_SURFACES
    known = listed.get(aweme_id)
    is_served = known is not None and aweme_id not in read.errors and aweme_id not in read.late
    return is_served and known is not None and known.video.surface in APP_SURFACES


def _is_fresh(video: Video, sources: Sources) -> bool:
    """Return True for a recent observation with four exact counts."""
    is_young = is_fresh(video.observed_at, now=datetime.now(UTC), ttl_s=sources.settings.video_ttl)
    return video.statistics_complete and is_young


def _unavailable(video: UnavailableVideo) -> Document:
    """Describe a video that the platform knows but does not show."""
    return {
        "aweme_id": video.aweme_id,
        "reason": video.reason,
        "filter_reason": video.filter_reason,
        "notice": video.notice,
        "detail_msg": video.detail_msg,
    }


def _refused(aweme_id: str, error: SametrackError) -> Document:
    """Describe a video for which the platform refused an answer; the reason is the error type."""
    own_word = error.reason if isinstance(error, UpstreamError) else None
    return {
        "aweme_id": aweme_id,
        "reason": error.type,
        "filter_reason": own_word,
        "notice": answer_of(error.type).message_zh,
        "detail_msg": error.detail,
    }


def _late(aweme_id: str) -> Document:
    return {
        "aweme_id": aweme_id,
        "reason": LATE,
        "filter_reason": None,
        "notice": "未能在时限内读取, 请稍后重试",
        "detail_msg": "Not read within the time limit of the request; try again in a moment",
    }


def _raise_what_is_not_about_one_work(read: Readings[str, Detail]) -> None:
    """Raise errors that concern the whole request, such as an unsupported source or a full disk."""
    for error in read.errors.values():
        if not isinstance(error, UpstreamError):
            raise error
