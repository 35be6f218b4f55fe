"""Compare videos drawn at random among those that a scan saw and did not choose as candidates.

A video that turns out to carry the recording is reported in the audit, with its evidence among the
compared pairs. It is neither a candidate nor ranked: a ranking that depended on a draw would show
another video in each scan, and the music id of such a video would count as known although its
list was not read, which the estimates of the coverage report forbid.
"""

from collections.abc import Sequence
from dataclasses import replace

from pipelines.scan.collect import (
    add_reads,
    ending_error,
    read_detail,
    read_until_refused,
    run_each,
)
from pipelines.scan.rules.coverage.audit import audit_size, draw_sample, left_out, with_bound
from pipelines.scan.rules.expansion import credibility
from pipelines.scan.scan_run import ScanRun
from pipelines.scan.state.scan_state import MeasuredVideo
from pipelines.scan.verify_audio import load_known_sounds, verify_music
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
    items = len(found.audit_details)
    add_reads(session, AUDIT_SURFACE, since=before, items=items, new=0, stop=stop)
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
    compared = await run_each(
        session,
        session.state.audit_details.values(),
        lambda detail: _compare(session, detail, references),
        at_once=VIDEOS_IN_FLIGHT,
    )
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
    unread: dict[str, AuditedVideo] = {}

    def leave_out(aweme_id: str, verdict: AuditVerdict, reason: str) -> None:
        unread[aweme_id] = AuditedVideo(aweme_id=aweme_id, verdict=verdict, reason=reason)

    def skip(aweme_id: str, error: UpstreamError) -> None:
        leave_out(aweme_id, "not_read", error.stop_reason)

    async def read(aweme_id: str) -> UpstreamError | None:
        try:
            found = await read_detail(session, aweme_id)
        except UpstreamError as error:
            skip(aweme_id, error)
            return error
        if isinstance(found, UnavailableVideo):
            leave_out(aweme_id, "unavailable", found.filter_reason or found.reason)
        else:
            session.state.audit_details[aweme_id] = found
        return None

    ending = ending_error(await read_until_refused(session, sample, read, skip))
    return unread, ending.stop_reason if ending else "completed"


async def _compare(
    session: ScanRun, detail: VideoDetail, references: Sequence[MeasuredVideo]
) -> tuple[AuditedVideo, list[Comparison]]:
    video = detail.video
    about = AuditedVideo(
        aweme_id=video.aweme_id,
        verdict="not_comparable",
        reason="silent_placeholder",
        music_id=video.music.music_id if video.music else None,
    )
    if detail.is_silent_placeholder:
        return about, []
    verdict, comparisons = await verify_music(session, [video], references)
    if not comparisons:
        return about, []
    judged = replace(
        about,
        verdict=verdict.verdict,
        reason=verdict.reason,
        comparison_id=max(comparisons, key=credibility).comparison_id,
    )
    return judged, comparisons
