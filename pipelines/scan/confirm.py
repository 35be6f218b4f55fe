"""The rounds of a scan, and its random audit: verify, confirm, expand, until nothing new is found.

A round verifies the music ids in the pool by audio and confirms their videos. The next one begins
with the screens of the newly verified ids, until these show nothing new or the pool is full. Then
some of the videos that no round chose are compared, drawn at random.

`state.verified` maps each music id that carries the track to the comparison that proves it
(None for the track's own id). Only unchanged audio is confirmed; edited audio is a variant.
"""

from collections.abc import Sequence
from dataclasses import replace

from pipelines.scan import collect, verify_audio
from pipelines.scan.rules import expansion
from pipelines.scan.rules.coverage import audit_size, draw_sample, left_out, with_bound
from pipelines.scan.scan_run import ScanRun
from pipelines.scan.state.scan_state import MeasuredVideo, ReferenceSound
from pipelines.scan.verify_audio import finish_cutting
from warehouse.records.coverage import AuditedVideo, AuditVerdict, NotAudited, RandomAudit
from warehouse.records.errors import AudioUnavailableError, UpstreamError
from warehouse.records.evidence import Comparison
from warehouse.records.jobs import DISCOVERY
from warehouse.records.videos import UnavailableVideo, Video, VideoDetail

AUDIO_UNAVAILABLE = AudioUnavailableError.type
NO_REFERENCE = "no_reference_sound"
MAX_VERIFYING_ROUNDS = 8
"""After so many rounds with a newly verified id a scan expands no further. Rounds without one are
as many as the pool has room for."""
GROUPS_IN_FLIGHT = 6  # downloads overlap with decoding; the decoder pool bounds the decoding
AUDIT_SURFACE = "random_audit"
"""The entry of the coverage report that has the cost of the audit."""


def confirm_videos(session: ScanRun, *, expands: bool = True) -> None:
    """Run the rounds and the random audit, and give every candidate an outcome.

    Each round ends with a checkpoint. A run that continues from one begins with the expansion that
    follows its last round. Without `expands` there is one round.
    """
    state = session.state
    # The track's own music id carries the track without a comparison, and its list is read already.
    state.verified[session.music_id] = None
    state.settled.add(session.music_id)
    state.screened.add(session.music_id)
    try:
        while not state.rounds or (expands and expand(session)):
            newly_verified = _verify_candidates(session)
            before = len(state.confirmed)
            _judge_candidates(session)
            state.rounds.append((tuple(newly_verified), len(state.confirmed) - before))
            verify_audio.write_sounds(session)
            session.count()
            # A checkpoint waits for earlier appends, so the next run finds the sounds of this one.
            session.checkpoint(round_number=len(state.rounds))

        # Compare some of the videos that the rounds left out.
        state.audit = draw_audit(session)
        if state.audit is not None and state.audit.sample:
            # A round has looked for references if a music id besides the track's own is settled. If
            # it found none, the search is not repeated.
            has_searched = len(state.settled) > 1
            has_none = has_searched and not state.references
            references = () if has_none else session.run(_references(session))
            audit_videos(session, references)
            verify_audio.write_sounds(session)
            session.count()
    finally:
        session.run(finish_cutting(session))
        session.finish_appends()

    # A candidate that was never compared has the outcome of its music id.
    verdicts = {
        video.music.music_id: state.outcomes[video.aweme_id]
        for video in state.videos()
        if video.music and video.aweme_id in state.outcomes
    }
    for video in state.videos():
        if video.aweme_id not in state.outcomes:
            state.outcomes[video.aweme_id] = (
                verdicts.get(video.music.music_id, ("not_verified", "verify_audio_off"))
                if video.music
                else ("rejected", "no_music_id")
            )


def expand(session: ScanRun) -> bool:
    """Read the screens of verified ids and their authors; return whether the pool grew.

    With a full pool, some lists of verified ids are read for the number of their videos alone.
    After `MAX_VERIFYING_ROUNDS` nothing is read, and the ids of the last one are not reached.
    """
    state = session.state
    unread = sorted(set(state.verified) - state.screened)
    limit = session.parameters.candidate_limit
    is_full = len(state.pool) >= limit
    is_last = sum(bool(music_ids) for music_ids, _ in state.rounds) >= MAX_VERIFYING_ROUNDS
    most = len(unread)
    if is_full or is_last:
        most = limit // expansion.CANDIDATES_PER_LIST if is_full else 0
    for music_id in unread[:most]:
        session.check_cancelled()
        state.screened.add(music_id)
        collect.read_music_screen(session, music_id)
    if is_full or is_last:
        state.not_reached.extend(f"music_list:{music_id}" for music_id in unread[most:])
        return False
    # Only audio can confirm what these screens show, because it is under other music ids.
    if session.verifies_audio:
        videos = [entry.video for entry in state.confirmed.values()]
        collect.read_author_screens(session, videos)
        collect.read_hashtag_screens(session, videos)
    grew = bool(collect.fill_pool(session))
    collect.read_details(session)
    return grew


def _verify_candidates(session: ScanRun) -> list[str]:
    """Verify the pool and record the downloads in the coverage; return newly verified music ids."""
    state = session.state
    requests, sounds_before = session.captures.requests_used, state.sounds_read
    refusals_before = state.sound_refusals.copy()
    newly_verified = session.run(_verify_pool(session))
    sounds = state.sounds_read - sounds_before
    refusals = state.sound_refusals - refusals_before
    # The stop reason is the most frequent refusal. A video without audio is no refusal, and is the
    # reason only if nothing was downloaded.
    del refusals[AUDIO_UNAVAILABLE]
    most_frequent = max(refusals, key=refusals.__getitem__, default=None)
    stop = most_frequent or ("completed" if sounds else AUDIO_UNAVAILABLE)
    collect.add_reads(session, "media", since=requests, items=sounds, new=sounds, stop=stop)
    return newly_verified


async def _verify_pool(session: ScanRun) -> list[str]:
    """Verify every music id of the pool without a verdict; return those that carry the track."""
    state = session.state
    groups = expansion.group_by_music(state.videos(), settled=state.settled)
    if not groups or not session.verifies_audio:
        return []
    references = await _references(session)
    # Load the stored features of all representatives in one query.
    silent = state.silent_videos()
    to_verify = [
        video
        for videos in groups.values()
        for video in expansion.videos_to_verify(
            videos, silent=silent, limit=expansion.REPRESENTATIVES
        )
    ]
    state.sounds_wanted = session.progress.audio_checked_count + len(to_verify)
    await verify_audio.load_known_sounds(session, to_verify)

    order = expansion.verification_order(groups, title=session.song_title)
    before = len(state.comparisons)
    verdicts = await collect.run_each(
        session,
        order,
        lambda music_id: _verify_group(session, music_id, groups[music_id], references),
        at_once=GROUPS_IN_FLIGHT,
    )
    # Groups are decided in any order. In the order of verification, equal scans have equal results.
    places = {music_id: place for place, music_id in enumerate(order)}
    compared = state.comparisons[before:]
    compared.sort(key=lambda entry: places.get(entry.candidate_music_id, -1))
    state.comparisons[before:] = compared
    return [music_id for music_id in verdicts if music_id is not None]


async def _references(session: ScanRun) -> Sequence[MeasuredVideo]:
    """Return the references, chosen once after the track's first screen has been read."""
    state = session.state
    # Another run of this job has chosen them: decode these again.
    if state.references and not session.sounds.references:
        session.sounds.references = await verify_audio.load_references(session) or ()
    if not session.sounds.references:
        chosen = await verify_audio.choose_references(session, state.videos_of(session.music_id))
        session.sounds.references = chosen
        state.references = [
            ReferenceSound(video=entry.video, sha256=entry.sound.sha256)
            for entry in chosen
            if entry.sound.sha256 is not None
        ]
    return session.sounds.references


async def _verify_group(
    session: ScanRun, music_id: str, videos: Sequence[Video], references: Sequence[MeasuredVideo]
) -> str | None:
    """Decide on the videos of a music id; return the id if it carries the track."""
    state = session.state
    state.settled.add(music_id)
    comparisons: list[Comparison] = []
    if not references:
        outcome, reason = "not_comparable", NO_REFERENCE
        if state.has_altered_references:
            reason = "reference_altered_by_host"
    else:
        verdict, comparisons = await verify_audio.verify_music(session, videos, references)
        outcome, reason = verdict.verdict, verdict.reason
        if not comparisons:
            outcome, reason = "not_comparable", "silent_placeholder"
    state.comparisons.extend(comparisons)
    best = max(comparisons, key=expansion.credibility, default=None)
    if best is not None and outcome == "confirmed":
        state.verified[music_id] = best
        return music_id
    if best is not None and outcome == "variant":
        state.variant_ids[music_id] = best
    state.outcomes.update({video.aweme_id: (outcome, reason) for video in videos})
    return None


def _judge_candidates(session: ScanRun) -> None:
    """Confirm the videos that carry the track, and collect those that carry a variant of it."""
    state = session.state
    compared = expansion.best_comparisons(state.comparisons)
    number = len(state.rounds)
    for video in state.videos():
        aweme_id = video.aweme_id
        if aweme_id in state.confirmed:
            continue
        music_id = video.music.music_id if video.music else ""
        own, of_group = compared.get(aweme_id), state.variant_ids.get(music_id)
        linked = expansion.link_video(
            video, verified=state.verified, own=own, expansion_round=number
        )
        if linked is not None:
            state.confirmed[aweme_id] = linked
            state.outcomes[aweme_id] = ("confirmed", linked.reason)
            continue
        variant = expansion.variant_comparison(own, of_group)
        if variant is not None:
            state.variants[aweme_id] = variant
            state.outcomes[aweme_id] = ("variant", variant.pair.reason)
        elif own is not None and (music_id in state.verified or of_group is not None):
            # The music id has a match, but the video's own sound was compared and differs.
            state.outcomes[aweme_id] = (own.pair.verdict, own.pair.reason)


def draw_audit(session: ScanRun) -> RandomAudit | None:
    """Draw videos for the audit, or state why none are drawn; None for a discovery.

    A discovery reports its candidates one by one, and reads too few lists for a statement on them.
    """
    if session.job.kind == DISCOVERY:
        return None
    state, most = session.state, session.runtime.settings.random_audit_size
    size = audit_size(most, candidate_limit=session.parameters.candidate_limit)
    population = left_out(state.sightings, pooled=state.pool)
    reason: NotAudited | None = None
    if not size:
        reason = "switched_off"
    elif not session.verifies_audio:
        reason = "not_compared"
    elif not population:
        reason = "nothing_left"
    # A later run of the job must draw the same videos.
    seed = session.job.job_id
    sample = () if reason else draw_sample(population, seed=seed, size=size)
    return RandomAudit(seed=seed, population=len(population), sample=sample, reason=reason)


def audit_videos(session: ScanRun, references: Sequence[MeasuredVideo]) -> None:
    """Read and compare the drawn videos, and bound how many like them carry the recording.

    A video that turns out to carry the recording is reported in the audit, with its evidence among
    the compared pairs. It is neither a candidate nor ranked: a ranking that depended on a draw
    would show another video in each scan, and the music id of such a video would count as verified
    although its list was not read, which the estimates of the coverage report forbid.
    """
    state = session.state
    audit = state.audit
    assert audit is not None, "drawn before"
    if not references:
        state.audit = replace(audit, sample=(), reason="no_reference")
        return
    unread: dict[str, AuditedVideo] = {}

    def leave_out(aweme_id: str, verdict: AuditVerdict, reason: str) -> None:
        unread[aweme_id] = AuditedVideo(aweme_id=aweme_id, verdict=verdict, reason=reason)

    def skip(aweme_id: str, error: UpstreamError) -> None:
        leave_out(aweme_id, "not_read", error.stop_reason)

    async def read(aweme_id: str) -> UpstreamError | None:
        try:
            detail = await collect.read_detail(session, aweme_id)
        except UpstreamError as error:
            skip(aweme_id, error)
            return error
        if isinstance(detail, UnavailableVideo):
            leave_out(aweme_id, "unavailable", detail.filter_reason or detail.reason)
        else:
            state.audit_details[aweme_id] = detail
        return None

    before = session.captures.requests_used
    refusal = collect.refusal_among(
        session.run(collect.read_until_refused(session, audit.sample, read, skip))
    )
    # In the order of the draw, whichever page was read first.
    details = state.audit_details
    state.audit_details = {name: details[name] for name in audit.sample if name in details}
    state.sounds_wanted += len(state.audit_details)
    compared = session.run(_compare_drawn(session, references))
    state.comparisons.extend(pair for _, comparisons in compared for pair in comparisons)

    stop = refusal.stop_reason if refusal else "completed"
    items = len(state.audit_details)
    collect.add_reads(session, AUDIT_SURFACE, since=before, items=items, new=0, stop=stop)
    verdicts = {video.aweme_id: video for video, _ in compared} | unread
    videos = tuple(verdicts[aweme_id] for aweme_id in audit.sample)
    state.audit = with_bound(replace(audit, videos=videos))


async def _compare_drawn(
    session: ScanRun, references: Sequence[MeasuredVideo]
) -> list[tuple[AuditedVideo, list[Comparison]]]:
    """Return the verdict on each drawn video whose page was read, and the compared pairs."""

    async def compare(detail: VideoDetail) -> tuple[AuditedVideo, list[Comparison]]:
        video = detail.video
        audited = AuditedVideo(
            aweme_id=video.aweme_id,
            verdict="not_comparable",
            reason="silent_placeholder",
            music_id=video.music.music_id if video.music else None,
        )
        if detail.is_silent_placeholder:
            return audited, []
        verdict, comparisons = await verify_audio.verify_music(session, [video], references)
        if not comparisons:
            return audited, []
        best = max(comparisons, key=expansion.credibility)
        audited = replace(
            audited,
            verdict=verdict.verdict,
            reason=verdict.reason,
            comparison_id=best.comparison_id,
        )
        return audited, comparisons

    details = list(session.state.audit_details.values())
    await verify_audio.load_known_sounds(session, [detail.video for detail in details])
    return await collect.run_each(session, details, compare, at_once=GROUPS_IN_FLIGHT)
