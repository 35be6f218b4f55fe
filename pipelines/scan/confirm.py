"""Verify candidates by audio in rounds, expand from what was verified, then audit a random sample.

A round verifies the music ids in the pool by audio and confirms their videos. The next round first
reads the lists of the newly verified music ids, until these show no new video or the pool is full.
Then some of the videos that no round chose are drawn at random and compared.

`state.verified` maps each music id that carries the track to the comparison that proves it
(None for the track's own id). `state.settled` are the music ids with a verdict, `state.screened`
those whose list was read. Only unchanged audio is confirmed; edited audio is a variant.
"""

from collections.abc import Sequence
from dataclasses import replace

from pipelines.scan import collect, verify_audio
from pipelines.scan.rules import expansion
from pipelines.scan.rules.coverage import audit_size, draw_sample, left_out, with_bound
from pipelines.scan.scan_run import ScanRun
from pipelines.scan.state.scan_state import ReferenceSounds
from pipelines.scan.verify_audio import finish_cutting
from warehouse.records.coverage import AuditedVideo, AuditVerdict, NotAudited, RandomAudit
from warehouse.records.errors import AudioUnavailableError, UpstreamError
from warehouse.records.evidence import Comparison
from warehouse.records.jobs import DISCOVERY
from warehouse.records.videos import Unavailability, Video

AUDIO_UNAVAILABLE = AudioUnavailableError.type
NO_REFERENCE = "no_reference_sound"
MAX_VERIFYING_ROUNDS = 8
"""A scan stops expanding after this many rounds that verified a music id. Rounds that verified none
are limited only by the size of the pool."""
GROUPS_IN_FLIGHT = 6  # more than the decoders, because downloads overlap with decoding
AUDIT_SURFACE = "random_audit"
"""Surface of the audit's requests in the coverage report."""


def confirm_videos(run: ScanRun, *, expands: bool = True) -> None:
    """Run the rounds and the random audit, and give every candidate an outcome.

    Each round ends with a checkpoint. With `expands=False` there is one round.
    """
    state = run.state
    # The track's own music id needs no comparison, and its list has been read.
    state.verified[run.music_id] = None
    state.settled.add(run.music_id)
    state.screened.add(run.music_id)
    try:
        # A run that resumes from a checkpoint starts with the expansion after its last round.
        while not state.rounds or (expands and expand(run)):
            newly_verified = _verify_candidates(run)
            confirmed_before = len(state.confirmed)
            _judge_candidates(run)
            state.rounds.append((tuple(newly_verified), len(state.confirmed) - confirmed_before))
            verify_audio.write_sounds(run)
            run.update_progress()
            # The checkpoint is stored after the sounds, so a resumed run finds them.
            run.checkpoint(round_number=len(state.rounds))

        # The random audit, of videos that are no candidates
        state.audit = draw_audit(run)
        if state.audit is not None and state.audit.sample:
            # A round has searched for references if a music id besides the track's own is settled.
            # A search that found none is not repeated.
            has_searched = len(state.settled) > 1
            found_none = has_searched and not state.references
            references = {} if found_none else run.wait_for(_choose_references(run))
            audit_videos(run, references)
            verify_audio.write_sounds(run)
            run.update_progress()
    finally:
        run.wait_for(finish_cutting(run))
        run.finish_appends()

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


def expand(run: ScanRun) -> bool:
    """Read the lists of verified music ids and of their authors; return whether the pool grew.

    If the pool is full, a few more lists are read, only to count their videos. After
    `MAX_VERIFYING_ROUNDS` no list is read, and the coverage report names the ids of unread lists.
    """
    state = run.state
    unread_ids = sorted(set(state.verified) - state.screened)
    limit = run.parameters.candidate_limit
    is_full = len(state.pool) >= limit
    is_round_limit_reached = (
        sum(bool(music_ids) for music_ids, _ in state.rounds) >= MAX_VERIFYING_ROUNDS
    )
    if is_full:
        list_count = limit // expansion.CANDIDATES_PER_LIST
    elif is_round_limit_reached:
        list_count = 0
    else:
        list_count = len(unread_ids)
    for music_id in unread_ids[:list_count]:
        run.check_cancelled()
        state.screened.add(music_id)
        collect.read_music_screen(run, music_id)
    if is_full or is_round_limit_reached:
        state.not_reached.extend(f"music_list:{music_id}" for music_id in unread_ids[list_count:])
        return False
    # Videos of these screens have other music ids, so only audio can confirm them.
    if run.verifies_audio:
        videos = [video for video, _ in state.confirmed_videos()]
        collect.read_author_screens(run, videos)
        collect.read_hashtag_screens(run, videos)
    grew = bool(collect.fill_pool(run))
    collect.read_details(run)
    return grew


def _verify_candidates(run: ScanRun) -> list[str]:
    """Verify the pool and record the downloads in the coverage; return newly verified music ids."""
    state = run.state
    requests, sounds_before = run.captures.requests_used, state.sounds_read
    refusals_before = state.sound_refusals.copy()
    newly_verified = run.wait_for(_verify_music_ids(run))
    sounds = state.sounds_read - sounds_before
    refusals = state.sound_refusals - refusals_before
    # The stop reason is the most frequent refusal. A video without audio is not a refusal, and is
    # the stop reason only if nothing was downloaded.
    del refusals[AUDIO_UNAVAILABLE]
    most_frequent = max(refusals, key=refusals.__getitem__, default=None)
    stop = most_frequent or ("completed" if sounds else AUDIO_UNAVAILABLE)
    collect.add_reads(run, "media", since=requests, items=sounds, new=sounds, stop=stop)
    return newly_verified


async def _verify_music_ids(run: ScanRun) -> list[str]:
    """Verify every music id of the pool without a verdict; return those that carry the track."""
    state = run.state
    groups = expansion.group_by_music(state.videos(), settled=state.settled)
    if not groups or not run.verifies_audio:
        return []
    references = await _choose_references(run)
    # Load the stored features of all representatives in one query.
    to_verify = [
        video
        for videos in groups.values()
        for video in expansion.videos_to_verify(videos, limit=expansion.REPRESENTATIVES)
    ]
    state.sounds_wanted = run.progress.audio_checked_count + len(to_verify)
    await verify_audio.load_known_sounds(run, to_verify)

    order = expansion.verification_order(groups, title=run.song_title)
    comparison_count = len(state.comparisons)
    verified_ids = await collect.run_each(
        run,
        order,
        lambda music_id: _verify_group(run, music_id, groups[music_id], references),
        at_once=GROUPS_IN_FLIGHT,
    )
    # Groups finish in any order. Their comparisons are sorted: equal scans give equal results.
    order_of = {music_id: place for place, music_id in enumerate(order)}
    new_comparisons = state.comparisons[comparison_count:]
    new_comparisons.sort(key=lambda entry: order_of.get(entry.candidate_music_id, -1))
    state.comparisons[comparison_count:] = new_comparisons
    return [music_id for music_id in verified_ids if music_id is not None]


async def _choose_references(run: ScanRun) -> ReferenceSounds:
    """Return the references, chosen once, after the track's first page has been read."""
    state = run.state
    # An earlier run of this job has chosen references: load them.
    if state.references and not run.sounds.references:
        run.sounds.references = await verify_audio.load_references(run) or {}
    if not run.sounds.references:
        chosen = await verify_audio.choose_references(run, state.videos_of(run.music_id))
        run.sounds.references = chosen
        state.references = {
            aweme_id: sound.sha256 for aweme_id, sound in chosen.items() if sound.sha256 is not None
        }
    return run.sounds.references


async def _verify_group(
    run: ScanRun, music_id: str, videos: Sequence[Video], references: ReferenceSounds
) -> str | None:
    """Compare a music id and record the verdict for its videos; return the id if it carries the
    track.
    """
    state = run.state
    state.settled.add(music_id)
    comparisons: list[Comparison] = []
    if not references:
        outcome, reason = "not_comparable", NO_REFERENCE
        if state.has_altered_references:
            reason = "reference_altered_by_host"
    else:
        group, comparisons = await verify_audio.verify_music(run, videos, references)
        outcome, reason = group.verdict, group.reason
        if not comparisons:  # every video had the silent placeholder
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


def _judge_candidates(run: ScanRun) -> None:
    """Confirm the videos that carry the track, and collect those that carry a variant of it."""
    state = run.state
    comparison_of = expansion.best_comparisons(state.comparisons)
    round_number = len(state.rounds)
    for video in state.videos():
        aweme_id = video.aweme_id
        if aweme_id in state.confirmed:
            continue
        music_id = video.music.music_id if video.music else ""
        own, of_group = comparison_of.get(aweme_id), state.variant_ids.get(music_id)
        linked = expansion.link_video(
            video, verified=state.verified, own=own, expansion_round=round_number
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


def draw_audit(run: ScanRun) -> RandomAudit | None:
    """Draw videos for the audit, or state why none are drawn; None for a discovery.

    Discoveries are not audited: they read too few lists for an estimate.
    """
    if run.job.kind == DISCOVERY:
        return None
    state = run.state
    size = audit_size(
        run.runtime.settings.random_audit_size, candidate_limit=run.parameters.candidate_limit
    )
    population = left_out(state.sightings, pooled=state.pool)
    reason: NotAudited | None = None
    if not size:
        reason = "switched_off"
    elif not run.verifies_audio:
        reason = "not_compared"
    elif not population:
        reason = "nothing_left"
    # A later run of the job must draw the same videos.
    seed = run.job.job_id
    sample = () if reason else draw_sample(population, seed=seed, size=size)
    return RandomAudit(seed=seed, population=len(population), sample=sample, reason=reason)


def audit_videos(run: ScanRun, references: ReferenceSounds) -> None:
    """Read and compare the drawn videos, and bound how many like them carry the recording.

    A match is reported in the audit only, with its evidence among the compared pairs. It is not
    ranked, because the sample is random and results would differ between scans. Its music id does
    not count as verified, because the coverage estimates require that the lists of verified ids
    were read.
    """
    state = run.state
    audit = state.audit
    assert audit is not None, "drawn before"
    if not references:
        state.audit = replace(audit, sample=(), reason="no_reference")
        return
    not_compared: dict[str, AuditedVideo] = {}

    def record_not_compared(aweme_id: str, verdict: AuditVerdict, reason: str) -> None:
        not_compared[aweme_id] = AuditedVideo(aweme_id=aweme_id, verdict=verdict, reason=reason)

    def skip(aweme_id: str, error: UpstreamError) -> None:
        record_not_compared(aweme_id, "not_read", error.stop_reason)

    async def read(aweme_id: str) -> UpstreamError | None:
        try:
            detail = await collect.read_detail(run, aweme_id)
        except UpstreamError as error:
            skip(aweme_id, error)
            return error
        if isinstance(detail, Unavailability):
            record_not_compared(aweme_id, "unavailable", detail.filter_reason or detail.reason)
        else:
            state.audit_details[aweme_id] = detail
        return None

    requests_before = run.captures.requests_used
    refusal = collect.refusal_among(
        run.wait_for(collect.read_until_refused(run, audit.sample, read, skip))
    )
    # Pages are read concurrently: restore the order of the sample.
    details = state.audit_details
    state.audit_details = {
        aweme_id: details[aweme_id] for aweme_id in audit.sample if aweme_id in details
    }
    state.sounds_wanted += len(state.audit_details)
    compared = run.wait_for(_compare_sample(run, references))
    state.comparisons.extend(pair for _, comparisons in compared for pair in comparisons)

    stop = refusal.stop_reason if refusal else "completed"
    items = len(state.audit_details)
    collect.add_reads(run, AUDIT_SURFACE, since=requests_before, items=items, new=0, stop=stop)
    audited_by_id = {video.aweme_id: video for video, _ in compared} | not_compared
    videos = tuple(audited_by_id[aweme_id] for aweme_id in audit.sample)
    state.audit = with_bound(replace(audit, videos=videos))


async def _compare_sample(
    run: ScanRun, references: ReferenceSounds
) -> list[tuple[AuditedVideo, list[Comparison]]]:
    """Return the verdict on each drawn video whose page was read, and the compared pairs."""

    async def compare(video: Video) -> tuple[AuditedVideo, list[Comparison]]:
        audited = AuditedVideo(
            aweme_id=video.aweme_id,
            verdict="not_comparable",
            reason="silent_placeholder",
            music_id=video.music.music_id if video.music else None,
        )
        if video.is_silent:
            return audited, []
        verdict, comparisons = await verify_audio.verify_music(run, [video], references)
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

    videos = list(run.state.audit_details.values())
    await verify_audio.load_known_sounds(run, videos)
    return await collect.run_each(run, videos, compare, at_once=GROUPS_IN_FLIGHT)
