"""Types of jobs and of their results, as the operations on a track answer them."""

from typing import Annotated, Literal

from pydantic import Field

from api.responses.documents import ErrorDocument
from pipelines.documents.fields import ClosedDocument, Count, Timestamp
from pipelines.documents.result_types import (
    Discovery,
    HotVideos,
    HotVideosWithVariants,
    RankedVideo,
    TrackDocument,
)
from warehouse.records.jobs import JobStatus, WaitingFor


class ResultNote(ClosedDocument):
    """A remark for the reader of a result."""

    type: str
    message: str
    message_zh: str


class HotVideosResponse(HotVideos):
    """The ranking with its job."""

    job_id: str
    poll_url: str
    notes: list[ResultNote]


class DiscoveryResponse(Discovery):
    """The discovery with its job."""

    job_id: str
    poll_url: str


class ContinuedFrom(ClosedDocument):
    """The checkpoint that the present run of a job began with; `round` within a stage of rounds."""

    stage: str
    round: Count | None


class JobProgress(ClosedDocument):
    """Progress of a job. `eta_s` is an estimate, `eta_range_s` its bounds [low, high].

    `attempt` of `attempt_count` counts the runs that lost their worker; `waiting_for` says why
    nothing happens at the moment, null while the scan works.
    """

    stage: str
    stage_index: Count
    stage_count: Count
    candidate_pool_count: Count
    confirmed_count: Count
    detail_checked_count: Count
    audio_checked_count: Count
    search_page_count: Count
    account_profile_count: Count
    requests_used: Count
    eta_s: float | None
    eta_range_s: Annotated[list[float], Field(min_length=2, max_length=2)] | None
    attempt: Count
    attempt_count: Count
    waiting_for: WaitingFor | None
    continued_from: ContinuedFrom | None
    updated_at: str | None


class JobFacts(ClosedDocument):
    """A collection job without its result."""

    job_id: Annotated[str, Field(examples=["0b1f4c7e-6f0a-4a53-9d3a-2f6f5a1c9e21"])]
    poll_url: str
    scan_job_id: Annotated[
        str, Field(description="the job that scanned: another one if its stored result served")
    ]
    status: JobStatus
    input: str
    music_id: str | None
    parameters: dict[str, object]
    progress: JobProgress
    error: ErrorDocument | None
    cancel_requested: bool
    origin: str
    created_at: Timestamp
    started_at: Timestamp | None
    finished_at: Timestamp | None
    expires_at: Timestamp | None
    notes: list[ResultNote]
    is_demo_data: bool


class JobDocument(JobFacts):
    """A collection job; `result` is set once it is completed."""

    result: HotVideos | Discovery | None


class JobRanking(JobFacts):
    """A job with its result in another view, with its variants if they were requested."""

    result: HotVideos | HotVideosWithVariants | Discovery | None


class JobPreview(ClosedDocument):
    """What the scan of a job has confirmed so far, ranked in the order of the job.

    `aweme_list` has at most 50 videos and is empty unless the job is running; `updated_at` says
    when they were ranked. A later comparison can take a video away again.
    """

    job_id: str
    status: JobStatus
    music: TrackDocument | None
    aweme_list: list[RankedVideo]
    returned_count: Count
    confirmed_count: Count
    updated_at: Timestamp | None
    is_demo_data: bool


class BatchItem(ClosedDocument):
    """One track of a batch: its job or its error; `result` if one is stored.

    For a song of a list, `input` is the song's own link, `label` its name, and `list_input` the
    input that named the list.
    """

    input: str
    label: str | None
    list_input: str | None
    ok: bool
    status: JobStatus | None
    job_id: str | None
    poll_url: str | None
    result: HotVideos | None
    error: ErrorDocument | None


class BatchSongList(ClosedDocument):
    """A playlist, an album or an artist of the music service, and how many of its songs were taken.

    `song_count` is the number that the page claims or shows, whichever is larger.
    """

    input: str
    kind: Literal["playlist", "album", "artist"]
    title: str | None
    song_count: Count
    taken_count: Count
    left_out_count: Count


class BatchResult(ClosedDocument):
    """All inputs of a batch in the given order, processed independently.

    An input that names a list of songs has one item per song; `lists` says how many were left out.
    """

    items: list[BatchItem]
    lists: list[BatchSongList]
    ok_count: Count
    error_count: Count
    notes: list[ResultNote]
    is_demo_data: bool


class TrackName(ClosedDocument):
    """What a track is called, as last observed."""

    title: str | None
    author: str | None


TracksById = Annotated[
    dict[str, TrackName],
    Field(description="the tracks by music id; one that was never observed is missing"),
]


class JobList(ClosedDocument):
    """The newest jobs, without their results."""

    jobs: list[JobDocument]
    tracks: TracksById
    returned_count: Count
    is_demo_data: bool
