"""Build the rows of the steps that read: what a list showed, which videos were chosen, whose pages.

Conversion only. A step's rows are those of its first pass; what the rounds of `confirm.py` read
later stands in `marts.candidates`.
"""

from collections import Counter
from collections.abc import Iterable

from pipelines.scan.marts.rows import MartRow
from pipelines.scan.profiles import wanted_profiles
from pipelines.scan.rules.candidate_pool import Sighting
from pipelines.scan.scan_run import ScanRun


def screen_rows(session: ScanRun, sightings: Iterable[Sighting]) -> list[MartRow]:
    """Return a row for each place on the lists that a step read, in the order of the lists."""
    places: Counter[str] = Counter()
    rows: list[MartRow] = []
    for seen in sightings:
        rows.append({
            "job_id": session.job.job_id,
            "surface": seen.surface,
            "source_entity_id": seen.entity_id,
            "position": places[seen.entity_id],
            "aweme_id": seen.aweme_id,
            "music_id": seen.music_id,
            "digg_count": seen.digg_count,
        })  # fmt: skip
        places[seen.entity_id] += 1
    return rows


def pool_rows(session: ScanRun) -> list[MartRow]:
    """Return the rows of `marts.candidate_pool`: the pool as it is chosen now."""
    return [
        {
            "job_id": session.job.job_id,
            "position": position,
            "aweme_id": aweme_id,
            "source_surface": entry.sighting.surface,
            "source_entity_id": entry.sighting.entity_id,
            "priority": entry.priority,
            "music_id": entry.sighting.music_id,
        }
        for position, (aweme_id, entry) in enumerate(session.state.pool.items())
    ]


def detail_rows(session: ScanRun) -> list[MartRow]:
    """Return the rows of `marts.video_details`: each candidate of the pool, read or not."""
    return [_detail_row(session, aweme_id) for aweme_id in session.state.pool]


def _detail_row(session: ScanRun, aweme_id: str) -> MartRow:
    found = session.state
    video = found.details[aweme_id].video if aweme_id in found.details else None
    outcome, reason = ("read", None) if video else found.outcomes.get(aweme_id, ("pooled", None))
    return {
        "job_id": session.job.job_id,
        "aweme_id": aweme_id,
        "outcome": outcome,
        "reason": reason,
        "music_id": video.music.music_id if video and video.music else None,
        "sec_uid": video.author.sec_uid if video and video.author else None,
        "page_observed_at": video.observed_at if video else None,
    }


def profile_rows(session: ScanRun) -> list[MartRow]:
    """Return the rows of `marts.account_profiles`: the accounts whose profiles were wanted."""
    known = session.state.profiles
    return [
        {
            "job_id": session.job.job_id,
            "sec_uid": sec_uid,
            "position": position,
            "profile_observed_at": known[sec_uid].observed_at if sec_uid in known else None,
        }
        for position, sec_uid in enumerate(wanted_profiles(session))
    ]
