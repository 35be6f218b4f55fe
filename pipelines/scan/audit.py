"""Compare videos drawn at random among those that a scan saw and did not choose as candidates.

A video that turns out to carry the recording is reported in the audit, with its evidence among the
compared pairs. It is neither a candidate nor ranked: a ranking that depended on a draw would show
another video in each scan, and the music id of such a video would count as known although its
list was not read, which the estimates of the coverage report forbid.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from pipelines.platform.refusal_table import SOURCE_ENDING_ERRORS
from pipelines.scan.collect import READS_IN_FLIGHT, add_coverage, read_detail, run_all
from pipelines.scan.excerpts import cut_group_excerpts
from pipelines.scan.rules.coverage.audit import audit_size, draw_sample, left_out, with_bound
from pipelines.scan.rules.expansion import credibility
from pipelines.scan.scan_run import ScanRun
from pipelines.scan.state.scan_state import MeasuredVideo
from pipelines.scan.verify_audio import load_known_sounds, to_comparison, verify_music
from warehouse.records.coverage import AuditedVideo, AuditVerdict, NotAudited, RandomAudit
from warehouse.records.errors import UpstreamError
from warehouse.records.evidence import Comparison
from warehouse.records.jobs import DISCOVERY
from warehouse.records.videos import UnavailableVideo, VideoDetail

AUDIT_SURFACE = "random_audit"
"""The entry of the coverage report that has the cost of the audit."""
VIDEOS_IN_FLIGHT = 6  # downloads overlap with decoding, as for candidates


def draw_audit(session: ScanRun) -> RandomAudit | None:
    """Draw videos for the audit, or say why none are drawn; None for a discovery.

    A discovery reports its candidates one by one, and reads too few lists for a statement on them.
    """
    if session.job.kind == DISCOVERY:
        return None
    found, most = session.state, session.runtime.settings.random_audit_size
    size = audit_size(most, candidate_limit=session.parameters.candidate_limit)
    left = left_out(found.sightings, pooled=found.pool)
    reason: NotAudited | None = None
    if not size:
        reason = "switched_off"
    elif not session.verifies_audio:
        reason = "not_compared"
    elif not left:
        reason = "nothing_left"
    # A later run of the job must draw the same videos.
    seed = session.job.job_id
    sample = () if reason else draw_sample(left, seed=seed, size=size)
    return RandomAudit(seed=seed, population=len(left), sample=sample, reason=reason)


def audit_videos(session: ScanRun, references: Sequence[MeasuredVideo]) -> None:
    """Read and compare the drawn videos, and bound how many like them carry the recording."""
    found = session.state
    audit = found.audit
    assert audit is not None, "drawn before"
    if not references:
        found.audit = replace(audit, sample=(), reason="no_reference")
        return
    before = session.captures.requests_used
    videos, compared, stop = session.run(_audit(session, audit.sample, references))
    found.comparisons.extend(compared)
    requests = session.captures.requests_used - before
    read = len(found.audit_details)
    add_coverage(
        session, AUDIT_SURFACE, requests=requests, pages=read, items=read, new=0, stop=stop
    )
    found.audit = with_bound(replace(audit, videos=videos))


async def _audit(
    session: ScanRun, sample: Sequence[str], references: Sequence[MeasuredVideo]
) -> tuple[tuple[AuditedVideo, ...], list[Comparison], str]:
    """Return what became of each drawn video in their order, the compared pairs, why it ended."""
    unread, stop = await _read_details(session, sample)
    details = session.state.audit_details
    session.state.audit_details = {name: details[name] for name in sample if name in details}
    videos = [detail.video for detail in session.state.audit_details.values()]
    session.state.sounds_wanted += len(videos)
    await load_known_sounds(session, videos)
    gate = asyncio.Semaphore(VIDEOS_IN_FLIGHT)

    async def one(detail: VideoDetail) -> tuple[AuditedVideo, list[Comparison]]:
        async with gate:
            return await _compare(session, detail, references)

    compared = await run_all(map(one, session.state.audit_details.values()))
    verdicts = {video.aweme_id: video for video, _ in compared} | unread
    return (
        tuple(verdicts[name] for name in sample),
        [one for _, comparisons in compared for one in comparisons],
        stop,
    )


async def _read_details(
    session: ScanRun, sample: Sequence[str]
) -> tuple[dict[str, AuditedVideo], str]:
    """Read the drawn videos; return those that could not be read, and why reading ended."""
    gate = asyncio.Semaphore(READS_IN_FLIGHT)
    unread: dict[str, AuditedVideo] = {}
    stop = "completed"

    def leave_out(aweme_id: str, verdict: AuditVerdict, reason: str) -> None:
        unread[aweme_id] = AuditedVideo(aweme_id=aweme_id, verdict=verdict, reason=reason)

    async def one(aweme_id: str) -> None:
        nonlocal stop
        async with gate:
            session.check_cancelled()
            if stop != "completed":
                leave_out(aweme_id, "not_read", stop)
                return
            try:
                read = await read_detail(session, aweme_id)
            except UpstreamError as error:
                leave_out(aweme_id, "not_read", error.stop_reason)
                if isinstance(error, SOURCE_ENDING_ERRORS):
                    stop = error.stop_reason
                return
            if isinstance(read, UnavailableVideo):
                leave_out(aweme_id, "unavailable", read.filter_reason or read.reason)
            else:
                session.state.audit_details[aweme_id] = read

    await run_all(one(aweme_id) for aweme_id in sample)
    return unread, stop


async def _compare(
    session: ScanRun, detail: VideoDetail, references: Sequence[MeasuredVideo]
) -> tuple[AuditedVideo, list[Comparison]]:
    session.check_cancelled()
    video = detail.video
    about = AuditedVideo(
        aweme_id=video.aweme_id,
        verdict="not_comparable",
        reason="silent_placeholder",
        music_id=video.music.music_id if video.music else None,
    )
    if detail.is_silent_placeholder:
        return about, []
    verdict, measured = await verify_music(session, [video], references)
    if not measured:
        return about, []
    comparisons = [
        to_comparison(
            session, references[pair.reference_index], measured[pair.candidate_index], pair.evidence
        )
        for pair in verdict.pairs
    ]
    best = max(comparisons, key=credibility)
    cut_group_excerpts(session, measured, comparisons)
    return (
        replace(
            about,
            verdict=verdict.verdict,
            reason=verdict.reason,
            comparison_id=best.comparison_id,
        ),
        comparisons,
    )
