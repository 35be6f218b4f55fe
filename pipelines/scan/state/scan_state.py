"""The working state of a scan as one record: everything that one stage passes to the next.

`ScanState` survives the process: checkpoints store it, so its field names never change. What a run
can build again from it (open files, decoded references, running tasks) is in `SoundWorkspace`.
"""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import structlog
from pydantic import TypeAdapter, ValidationError

from pipelines.audio.features.sound_features import FEATURE_VERSION
from pipelines.audio.features.sounds import SoundMeasurement
from pipelines.captures.session import CaptureCounters
from pipelines.captures.walks import FinishedSearch
from pipelines.platform.sources.table import PARSER_VERSION
from pipelines.scan.common_sounds import CommonSoundList
from pipelines.scan.rules.candidate_pool import Sighting
from pipelines.scan.rules.expansion import TrackLink, link_versions
from pipelines.scan.runtime import Runtime
from warehouse.control import scan_journal
from warehouse.lake.record_rows import pack_bytes, unpack_bytes
from warehouse.queries.results import read_checkpoints, read_marts_of_job
from warehouse.records import videos as video_records
from warehouse.records.coverage import RandomAudit, SourceCoverage
from warehouse.records.errors import WarehouseUnavailableError
from warehouse.records.evidence import ALGORITHM, VERDICT_REVISION, Comparison, ReferenceSource
from warehouse.records.jobs import Job
from warehouse.records.values import Row

SONG_SURFACE = "service_track"


type ReferenceSounds = Mapping[str, SoundMeasurement]
"""The measured sounds that candidates are compared with, by the id of their video or song."""


@dataclass(slots=True, kw_only=True)
class ScanState:
    """Everything a scan has found and decided so far.

    Attributes:
        steps: The finished steps in order, each with its counts.
        checkpoint: Number of the last checkpoint; 0 before the first.
        written: Marts that have the rows of this scan, for example `candidates`.
        songs_asked: Ids of the songs that the music service was asked for.
        sightings: Every row of a list that was read; a video may occur several times.
        seen_ids: The videos of the sightings.
        pool: The candidates by video id, in the order in which their pages are read.
        outcomes: The outcome and its reason for each candidate.
        confirmed: The videos that carry the recording, each with its link to the track.
        references: The reference sounds by the id of their video, or of the song of the music
            service: the hash under which `raw.sounds` has their features.
        settled: Music ids with a verdict, which no later round verifies again.
        screened: Music ids whose video list was read.
        variants: The videos with the recording changed, or a few seconds of it, each with the
            comparison that shows it; they never count as confirmed.
        variant_ids: Each music id that carries a variant, with the comparison that proves it.
        verified: Each music id that carries the track, with the comparison that proves it.
        rounds: For each round the music ids it verified and how many videos it confirmed.
        sounds_wanted: How many sounds are to be compared, the compared ones included.
        authors_left: Accounts that no screen was read of, because the limit was reached.
        hashtags_left: Hashtags, likewise.
        spent: What the captures have spent: requests, the planner's verdicts.
        timings: Seconds of work so far by kind.
        audit: The videos drawn at random among those that are no candidates.
        audit_details: These as their own pages show them; they are no candidates, so not in
            `details`.
    """

    steps: dict[str, dict[str, int]] = field(default_factory=dict)
    checkpoint: int = 0
    written: set[str] = field(default_factory=set)
    track: video_records.Track | None = None
    song: video_records.ServiceSong | None = None
    songs_asked: set[str] = field(default_factory=set)
    sightings: list[Sighting] = field(default_factory=list)
    seen_ids: set[str] = field(default_factory=set)
    pool: dict[str, Sighting] = field(default_factory=dict)
    candidates: dict[str, Sighting] = field(default_factory=dict)
    details: dict[str, video_records.Video] = field(default_factory=dict)
    unavailable: dict[str, video_records.Unavailability] = field(default_factory=dict)
    outcomes: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    confirmed: dict[str, TrackLink] = field(default_factory=dict)
    comparisons: list[Comparison] = field(default_factory=list)
    sound_hashes: dict[str, str] = field(default_factory=dict)
    references: dict[str, str] = field(default_factory=dict)
    has_altered_references: bool = False
    variants: dict[str, Comparison] = field(default_factory=dict)
    variant_ids: dict[str, Comparison] = field(default_factory=dict)
    verified: dict[str, Comparison | None] = field(default_factory=dict)
    settled: set[str] = field(default_factory=set)
    screened: set[str] = field(default_factory=set)
    scanned_authors: set[str] = field(default_factory=set)
    search: FinishedSearch | None = None
    search_union: dict[str, tuple[str, ...]] = field(default_factory=dict)
    scanned_hashtags: set[str] = field(default_factory=set)
    sounds_wanted: int = 0
    sounds_read: int = 0
    sound_refusals: Counter[str] = field(default_factory=Counter)
    audio_checked: int = 0
    profiles: dict[str, video_records.Account] = field(default_factory=dict)
    profiles_end: str = "completed"
    authors_left: tuple[str, ...] = ()
    hashtags_left: tuple[str, ...] = ()
    rounds: list[tuple[tuple[str, ...], int]] = field(default_factory=list)
    coverage_report: list[SourceCoverage] = field(default_factory=list)
    not_reached: list[str] = field(default_factory=list)
    spent: CaptureCounters = field(default_factory=CaptureCounters)
    timings: dict[str, float] = field(default_factory=dict)
    audit: RandomAudit | None = None
    audit_details: dict[str, video_records.Video] = field(default_factory=dict)

    @property
    def is_between_rounds(self) -> bool:
        """Whether some rounds are done, and the step that they belong to is not."""
        return bool(self.rounds) and "confirmed_videos" not in self.steps

    def videos(self) -> list[video_records.Video]:
        """Return every video whose detail page was read, in the order of the pool."""
        return list(self.details.values())

    def videos_of(self, music_id: str) -> list[video_records.Video]:
        """Return the videos that use this music id, of those whose detail page was read."""
        return [
            video for video in self.videos() if video.music and video.music.music_id == music_id
        ]

    def reference_source(self, reference_id: str) -> ReferenceSource:
        """Return where a reference sound comes from: the platform, or the music service."""
        is_song = self.song is not None and self.song.track_id == reference_id
        return "music_service" if is_song else "platform"

    def confirmed_videos(self) -> list[tuple[video_records.Video, TrackLink]]:
        """Return the confirmed videos with their links to the track."""
        return [(self.details[name], link) for name, link in self.confirmed.items()]

    def variant_videos(self) -> list[tuple[video_records.Video, Comparison]]:
        """Return the variants with the comparisons that show them."""
        return [(self.details[name], entry) for name, entry in self.variants.items()]

    def version_videos(self) -> list[tuple[video_records.Video, Comparison]]:
        """Return the videos with another performance of the composition, the surest first."""
        videos = [
            video
            for video in self.videos()
            if video.aweme_id not in self.confirmed and video.aweme_id not in self.variants
        ]
        return link_versions(videos, self.comparisons)

    def read_candidates(self) -> set[str]:
        """Return the candidates whose detail page was read, or is no longer shown."""
        return {*self.details, *self.unavailable}


@dataclass(slots=True)
class SoundWorkspace:
    """What audio verification holds in this process only.

    `rows` are measured sounds not yet written, `files` downloaded files kept for excerpts by video
    id, `cutting` the tasks that cut these, `stored` the stored features by video id, `references`
    the decoded references of `ScanState.references`, `common` the common sounds.
    """

    rows: list[dict[str, object]] = field(default_factory=list)
    files: dict[str, Path] = field(default_factory=dict)
    cutting: list[asyncio.Task[None]] = field(default_factory=list)
    stored: dict[str, Row] = field(default_factory=dict)
    references: ReferenceSounds = field(default_factory=dict)
    common: CommonSoundList = field(default_factory=CommonSoundList)


@cache
def _states() -> TypeAdapter[ScanState]:
    return TypeAdapter(ScanState)


# Raised when a step counts something else: the names of its counts are not in the schema.
_STEPS_REVISION = "3"


@cache
def state_revision() -> str:
    """Return the revision of stored states: their schema, and what their verdicts come from.

    A state of another revision is not read: its scan begins again.
    """
    # A dictionary keeps its order, so equal schemas have equal texts.
    schema = repr(_states().json_schema())
    parts = (_STEPS_REVISION, schema, PARSER_VERSION, ALGORITHM, VERDICT_REVISION, FEATURE_VERSION)
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:16]


def pack_state(state: ScanState) -> bytes:
    """Serialise a state to compressed JSON."""
    return pack_bytes(_states().dump_json(state))


def unpack_state(packed: bytes) -> ScanState:
    """Return the state that `pack_state` wrote under the present revision.

    Raises:
        ValueError: The document is no state of this revision.
        WarehouseUnavailableError: The cell is damaged.
    """
    try:
        return _states().validate_json(unpack_bytes(packed))
    except ValidationError as error:
        raise ValueError("the checkpoint holds no state of this revision") from error


# Checkpoints of a scan in `raw.scan_checkpoints`: write one, continue from the last one.
#
# A checkpoint is appended after everything that its scan wrote before. Rows that a killed run
# wrote after it are deleted when the next run begins, so that a repeated stage writes its rows
# once.

CHECKPOINTS = "raw.scan_checkpoints"
log = structlog.get_logger("scan")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumedScan:
    """The state that a run begins with, and the stage and round of its checkpoint."""

    state: ScanState
    stage: str | None = None
    round_number: int | None = None


def resume_scan(runtime: Runtime, job: Job, *, fresh: ScanState) -> ResumedScan:
    """Return the state of the last checkpoint of a job; delete the rows that were written after it.

    The first run of a job begins with `fresh`. A later one without a usable checkpoint begins again
    from nothing: another release may have other stages, rules or versions, and a wrong state would
    be worse than the repeated requests.
    """
    if job.run_number <= 1:
        return ResumedScan(state=fresh)
    runtime.engine.refresh()
    row = next(iter(read_checkpoints(runtime.engine, job.job_id)), None)
    state = None if row is None else unpack_checkpoint(row)
    if row is not None and state is None:
        log.warning("checkpoint of another revision; the scan begins again", job_id=job.job_id)
        delete_checkpoints(runtime, job.job_id)
    # The checkpoint lists the marts whose rows were written before it; all later rows go.
    kept = set() if state is None else state.written
    for noun in read_marts_of_job(runtime.engine, job.job_id):
        if noun not in kept:
            runtime.lake.delete(f"marts.{noun}", "job_id", [job.job_id])
    if row is None or state is None:
        return ResumedScan(state=ScanState())
    round_number = None if row["round"] is None else row["round"] + 1
    return ResumedScan(state=state, stage=row["stage"], round_number=round_number)


def checkpoint_row(
    job: Job, state: ScanState, *, stage: str, round_number: int | None
) -> dict[str, object]:
    """Return the row of `raw.scan_checkpoints` for the present state."""
    return {
        "job_id": job.job_id,
        "number": state.checkpoint,
        "run_number": job.run_number,
        "stage": stage,
        "round": None if round_number is None else round_number - 1,  # from 0, as in the marts
        "revision": state_revision(),
        "state": pack_state(state),
    }


def find_state(
    runtime: Runtime,
    job_ids: Sequence[str],
    *,
    finished: Collection[str],
    unfinished: Collection[str],
    repeated: str | None = None,
) -> ScanState | None:
    """Return the newest stored state from which a new job can begin, of the first job that has one.

    Args:
        runtime: The open stores.
        job_ids: The jobs whose checkpoints may be used, the preferred one first.
        finished: Steps that must be finished in the state.
        unfinished: Steps that must not be finished in it.
        repeated: The job that the new one continues where it stopped. Only its states between two
            rounds can be used, and only if it has not ended its rounds: any other state between
            rounds contains comparisons that the new job must make again.
    """
    runtime.engine.refresh()
    for job_id in job_ids:
        continues = job_id == repeated
        for row in read_checkpoints(runtime.engine, job_id):
            state = unpack_checkpoint(row)
            if state is None:
                continue
            done = state.steps.keys()
            if not done.isdisjoint(unfinished):
                # Rows are newest first: this job ended its rounds after all that follow.
                continues = False
            elif done >= set(finished) and (continues or not state.is_between_rounds):
                return state
    return None


def delete_checkpoints(runtime: Runtime, job_id: str) -> None:
    """Delete the checkpoints and the journal of a job."""
    runtime.lake.delete(CHECKPOINTS, "job_id", [job_id])
    scan_journal.drop(runtime.control, job_id)


def unpack_checkpoint(row: Row) -> ScanState | None:
    """Return the state of a row of `raw.scan_checkpoints`; None if it is of another revision."""
    if row["revision"] != state_revision():
        return None
    try:
        return unpack_state(row["state"])
    except (ValueError, WarehouseUnavailableError):
        return None
