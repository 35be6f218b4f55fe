"""The expansion loop of a scan: verify the music ids in the pool, confirm their videos, read the
screens of newly verified ids; repeat until nothing new is found or the pool is full.

`state.verified` maps each music id that carries the track to the comparison that proves it
(None for the track's own id). Only unchanged audio is confirmed; edited audio is a variant.
"""

from collections import Counter
from collections.abc import Sequence

from pipelines.scan.audit import audit_videos, draw_audit
from pipelines.scan.collect import (
    add_reads,
    fill_pool,
    read_details,
    read_music_screen,
    run_each,
)
from pipelines.scan.excerpts import finish_cutting
from pipelines.scan.rules.expansion import (
    CANDIDATES_PER_LIST,
    REPRESENTATIVES,
    VideoVariant,
    best_comparisons,
    credibility,
    group_by_music,
    link_video,
    variant_comparison,
    verification_order,
    videos_to_verify,
)
from pipelines.scan.scan_run import ScanRun
from pipelines.scan.screens import read_author_screens, read_hashtag_screens
from pipelines.scan.state.scan_state import MeasuredVideo, ReferenceSound
from pipelines.scan.verify_audio import (
    choose_references,
    load_known_sounds,
    load_references,
    verify_music,
    write_sounds,
)
from warehouse.records.errors import AudioUnavailableError
from warehouse.records.videos import Video

AUDIO_UNAVAILABLE = AudioUnavailableError.type
NO_REFERENCE = "no_reference_sound"
MAX_VERIFYING_ROUNDS = 8
"""After so many rounds with a newly verified id a scan expands no further. Rounds without one are
as many as the pool has room for."""
GROUPS_IN_FLIGHT = 6  # downloads overlap with decoding; the decoder pool bounds the decoding


def confirm_videos(session: ScanRun, *, expands: bool = True) -> None:
    """Run the rounds and the random audit; every candidate has an outcome then.

    Without `expands` there is one round.
    """
    found = session.state
    found.verified[session.music_id] = None
    found.settled.add(session.music_id)
    found.screened.add(session.music_id)
    try:
        _run_rounds(session, expands=expands)
        _audit(session)
    finally:
        session.run(finish_cutting(session))
        session.finish_appends()
    _complete_outcomes(session)


def _run_rounds(session: ScanRun, *, expands: bool) -> None:
    """Verify, confirm and expand, round by round; each round ends with a checkpoint.

    A run that goes on after a checkpoint begins with the expansion that follows its last round.
    """
    found = session.state
    while not found.rounds or (expands and expand(session)):
        newly = _verify_candidates(session)
        before = len(found.confirmed)
        _confirm(session, len(found.rounds))
        _collect_variants(session)
        found.rounds.append((tuple(newly), len(found.confirmed) - before))
        write_sounds(session)
        session.count()
        # After `write_sounds`: a checkpoint waits for earlier appends, so the next run finds them.
        session.checkpoint(round_number=len(found.rounds))


def _audit(session: ScanRun) -> None:
    """Compare some of the videos that the rounds left out, drawn at random."""
    found = session.state
    found.audit = draw_audit(session)
    if found.audit is not None and found.audit.sample:
        audit_videos(session, session.run(_references_of_rounds(session)))
        write_sounds(session)
        session.count()


async def _references_of_rounds(session: ScanRun) -> Sequence[MeasuredVideo]:
    """Return the references; a search for them that found none is not repeated."""
    was_tried = len(session.state.settled) > 1  # a music id besides the track's own has a verdict
    if was_tried and not session.state.references:
        return ()
    return await _references(session)


def expand(session: ScanRun) -> bool:
    """Read the screens of verified ids and their authors; return whether the pool grew.

    With a full pool, some lists of verified ids are read for the number of their videos alone.
    After `MAX_VERIFYING_ROUNDS` nothing is read, and the ids of the last one are not reached.
    """
    found = session.state
    unread = sorted(set(found.verified) - found.screened)
    limit = session.parameters.candidate_limit
    is_full = len(found.pool) >= limit
    is_last = sum(bool(music_ids) for music_ids, _ in found.rounds) >= MAX_VERIFYING_ROUNDS
    most = len(unread)
    if is_full or is_last:
        most = limit // CANDIDATES_PER_LIST if is_full else 0
    for music_id in unread[:most]:
        session.check_cancelled()
        found.screened.add(music_id)
        read_music_screen(session, music_id)
    if is_full or is_last:
        found.not_reached.extend(f"music_list:{music_id}" for music_id in unread[most:])
        return False
    if session.verifies_audio:
        videos = [entry.video for entry in found.confirmed.values()]
        read_author_screens(session, videos)
        read_hashtag_screens(session, videos)
    grew = bool(fill_pool(session))
    read_details(session)
    return grew


def _verify_candidates(session: ScanRun) -> list[str]:
    """Verify the pool and record the downloads in the coverage; return newly verified music ids."""
    requests, files = session.captures.requests_used, session.state.sounds_read
    refused_before = session.state.sound_refusals.copy()
    newly = session.run(_verify_pool(session))
    read = session.state.sounds_read - files
    refusals = session.state.sound_refusals - refused_before
    refused = Counter({name: n for name, n in refusals.items() if name != AUDIO_UNAVAILABLE})
    most_frequent = max(refused, key=refused.__getitem__, default=None)
    stop = most_frequent or ("completed" if read else AUDIO_UNAVAILABLE)
    add_reads(session, "media", since=requests, items=read, new=read, stop=stop)
    return newly


async def _verify_pool(session: ScanRun) -> list[str]:
    """Verify every music id of the pool without a verdict; return those that carry the track."""
    found = session.state
    groups = group_by_music(found.videos(), settled=found.settled)
    if not groups or not session.verifies_audio:
        return []
    references = await _references(session)
    silent = found.silent_videos()
    to_verify = [
        video
        for videos in groups.values()
        for video in videos_to_verify(videos, silent=silent, limit=REPRESENTATIVES)
    ]
    found.sounds_wanted = session.progress.audio_checked_count + len(to_verify)
    await load_known_sounds(session, to_verify)
    order = verification_order(groups, title=session.song_title)
    before = len(found.comparisons)
    verdicts = await run_each(
        session,
        order,
        lambda music_id: _verify_group(session, music_id, groups[music_id], references),
        at_once=GROUPS_IN_FLIGHT,
    )
    places = {music_id: place for place, music_id in enumerate(order)}
    compared = found.comparisons[before:]  # in one order, whichever group was decided first
    compared.sort(key=lambda entry: places.get(entry.candidate_music_id, -1))
    found.comparisons[before:] = compared
    return [music_id for music_id in verdicts if music_id is not None]


async def _references(session: ScanRun) -> Sequence[MeasuredVideo]:
    """Return the references, chosen once after the track's first screen has been read."""
    found = session.state
    if found.references and not session.sounds.references:
        session.sounds.references = await load_references(session) or ()
    if not session.sounds.references:
        chosen = await choose_references(session, found.videos_of(session.music_id))
        session.sounds.references = chosen
        found.references = [
            ReferenceSound(video=one.video, sha256=one.sound.sha256)
            for one in chosen
            if one.sound.sha256 is not None
        ]
    return session.sounds.references


async def _verify_group(
    session: ScanRun, music_id: str, videos: Sequence[Video], references: Sequence[MeasuredVideo]
) -> str | None:
    found = session.state
    found.settled.add(music_id)
    if not references:
        reason = "reference_altered_by_host" if found.has_altered_references else NO_REFERENCE
        _mark(session, videos, "not_comparable", reason)
        return None
    verdict, comparisons = await verify_music(session, videos, references)
    found.comparisons.extend(comparisons)
    if not comparisons:
        _mark(session, videos, "not_comparable", "silent_placeholder")
        return None
    best = max(comparisons, key=credibility)
    if verdict.verdict == "variant":
        found.variant_ids[music_id] = best
    if verdict.verdict != "confirmed":
        _mark(session, videos, verdict.verdict, verdict.reason)
        return None
    found.verified[music_id] = best
    return music_id


def _confirm(session: ScanRun, number: int) -> None:
    found = session.state
    compared = best_comparisons(found.comparisons)
    for video in found.videos():
        music_id = video.music.music_id if video.music else None
        if video.aweme_id in found.confirmed or music_id not in found.verified:
            continue
        own = compared.get(video.aweme_id)
        linked = link_video(video, verified=found.verified, own=own, expansion_round=number)
        if linked is not None:
            found.confirmed[video.aweme_id] = linked
            found.outcomes[video.aweme_id] = ("confirmed", linked.reason)
        elif own is not None:
            found.outcomes[video.aweme_id] = (own.pair.verdict, own.pair.reason)


def _collect_variants(session: ScanRun) -> None:
    """Collect the videos that carry the track changed, or a few seconds of it."""
    found = session.state
    compared = best_comparisons(found.comparisons)
    for video in found.videos():
        if video.aweme_id in found.confirmed:
            continue
        own = compared.get(video.aweme_id)
        of_group = found.variant_ids.get(video.music.music_id if video.music else "")
        comparison = variant_comparison(own, of_group)
        if comparison is not None:
            found.variants[video.aweme_id] = VideoVariant(video=video, comparison=comparison)
            found.outcomes[video.aweme_id] = ("variant", comparison.pair.reason)
        elif of_group is not None and own is not None:
            found.outcomes[video.aweme_id] = (own.pair.verdict, own.pair.reason)


def _mark(session: ScanRun, videos: Sequence[Video], outcome: str, reason: str) -> None:
    session.state.outcomes.update({video.aweme_id: (outcome, reason) for video in videos})


def _complete_outcomes(session: ScanRun) -> None:
    """Set the outcome of candidates that never got a verdict."""
    found = session.state
    verdicts = {
        video.music.music_id: found.outcomes[video.aweme_id]
        for video in found.videos()
        if video.music and video.aweme_id in found.outcomes
    }
    for video in found.videos():
        if video.aweme_id in found.outcomes:
            continue
        if video.music is None:
            found.outcomes[video.aweme_id] = ("rejected", "no_music_id")
        else:
            found.outcomes[video.aweme_id] = verdicts.get(
                video.music.music_id, ("not_verified", "verify_audio_off")
            )
