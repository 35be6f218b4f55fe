"""Several videos by id: fresh observations from the store, the others read now.

Decides which are read, which are returned, and why others are not. Not here: the accepted bodies
(`pipelines.parameters.video_ids`), HTTP (`api/routes/videos.py`).
"""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

from anyio.to_thread import run_sync

from api.responses.errors import error_spec
from api.schemas.lists import FilteredVideo, ManyVideos
from api.services.reads.documents import provenance
from api.services.reads.sources import FALLBACK_PROVIDER, Deadline, ReadOutcomes, Sources
from pipelines.captures.stored_captures import is_fresh
from pipelines.documents.result_types import VideoDocument
from pipelines.documents.videos import to_document, to_video_document
from pipelines.platform.sources.table import DetailOrUnavailable
from warehouse.queries.captures import read_unavailable_videos
from warehouse.queries.videos import read_listed_videos
from warehouse.records.errors import SametrackError, UnreachableError, UpstreamError
from warehouse.records.videos import APP_SURFACES, Unavailability, Video

SURFACE = "video_page"
MAX_PARALLEL_READS = 8
"""Parallel reads per request; the rate limit per host applies in addition."""

LATE = "deadline"


async def read_videos(
    sources: Sources, aweme_ids: Sequence[str], *, deadline: Deadline
) -> ManyVideos:
    """Return the `data` of the multi-video operations, in the order of the ids.

    Raises:
        ProviderUnsupportedError: The configured source cannot read videos.
        WarehouseError: A store is unavailable.
    """
    listed = await run_sync(read_listed_videos, sources.engine, aweme_ids)
    fresh = {aweme_id for aweme_id, entry in listed.items() if _is_fresh(entry, sources)}
    missing = [name for name in aweme_ids if name not in fresh]
    read: ReadOutcomes[str, DetailOrUnavailable] = ReadOutcomes()
    gone = await lately_unavailable(sources, missing)
    to_read = [aweme_id for aweme_id in missing if aweme_id not in gone]
    used_fallback = False
    if to_read:
        async with AsyncExitStack() as stack:
            try:
                async with deadline.guard(SURFACE):  # others may have the source
                    captures = await stack.enter_async_context(sources.open("users"))
            except UnreachableError:
                read.late.extend(to_read)
            else:
                read = await deadline.each(to_read, captures.video, parallel=MAX_PARALLEL_READS)
                used_fallback = captures.fallback_count > 0
    read.values.update(gone)
    _raise_request_errors(read)
    served = [(name, _served(name, listed.get(name), read)) for name in aweme_ids]
    return {
        "aweme_list": [document for _, document in served if document is not None],
        "filter_list": [_filtered(name, read) for name, document in served if document is None],
        "thirdparty_called": False,
        "signing_generated": False,
        "mobile_emulator_used": any(_is_from_app(name, listed, read) for name in aweme_ids),
        **provenance(
            FALLBACK_PROVIDER if used_fallback else sources.data_provider,
            is_demo=sources.is_demo or used_fallback,
        ),
    }


async def lately_unavailable(
    sources: Sources, aweme_ids: Sequence[str]
) -> dict[str, Unavailability]:
    """Return those of the videos that the platform has just not shown, not to be read again."""
    if not aweme_ids:
        return {}
    since = datetime.now(UTC) - timedelta(seconds=sources.settings.negative_ttl)
    find = partial(read_unavailable_videos, sources.engine, aweme_ids, since=since)
    return await run_sync(find)


def _served(
    aweme_id: str, stored: Video | None, read: ReadOutcomes[str, DetailOrUnavailable]
) -> VideoDocument | None:
    """Return the document of one video, None if it was not read."""
    detail = read.values.get(aweme_id)
    if isinstance(detail, Video):
        first_observed_at = None if stored is None else stored.first_observed_at
        return to_video_document(replace(detail, first_observed_at=first_observed_at))
    is_asked = detail is not None or aweme_id in read.errors or aweme_id in read.late
    return None if stored is None or is_asked else to_video_document(stored)


def _filtered(aweme_id: str, read: ReadOutcomes[str, DetailOrUnavailable]) -> FilteredVideo:
    """Return why a video is not served."""
    if aweme_id in read.errors:
        return _refused(aweme_id, read.errors[aweme_id])
    detail = read.values.get(aweme_id)
    if isinstance(detail, Unavailability):
        return to_document(FilteredVideo, detail, aweme_id=aweme_id)
    return _late(aweme_id)


def _is_from_app(
    aweme_id: str, listed: Mapping[str, Video], read: ReadOutcomes[str, DetailOrUnavailable]
) -> bool:
    """Return whether the returned record of a video was ever observed on a device."""
    detail = read.values.get(aweme_id)
    if isinstance(detail, Video):
        return detail.surface in APP_SURFACES
    entry = listed.get(aweme_id)
    is_served = entry is not None and aweme_id not in read.errors and aweme_id not in read.late
    return is_served and entry is not None and entry.surface in APP_SURFACES


def _is_fresh(video: Video, sources: Sources) -> bool:
    """Return True for a recent observation with four exact counts."""
    is_young = is_fresh(video.observed_at, now=datetime.now(UTC), ttl_s=sources.settings.video_ttl)
    return video.statistics_complete and is_young


def _refused(aweme_id: str, error: SametrackError) -> FilteredVideo:
    """Describe a video for which the platform refused an answer; the reason is the error type."""
    own_word = error.reason if isinstance(error, UpstreamError) else None
    return {
        "aweme_id": aweme_id,
        "reason": error.type,
        "filter_reason": own_word,
        "notice": error_spec(error.type).message_zh,
        "detail_msg": error.detail,
    }


def _late(aweme_id: str) -> FilteredVideo:
    return {
        "aweme_id": aweme_id,
        "reason": LATE,
        "filter_reason": None,
        "notice": "未能在时限内读取，请稍后重试",
        "detail_msg": "Not read within the time limit of the request; try again in a moment",
    }


def _raise_request_errors(read: ReadOutcomes[str, DetailOrUnavailable]) -> None:
    """Raise errors that concern the whole request, such as an unsupported source or a full disk."""
    for error in read.errors.values():
        if not isinstance(error, UpstreamError):
            raise error
