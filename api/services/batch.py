"""Endpoint 6: several tracks at once, each processed independently.

A link to a list of songs becomes its songs. Not here: HTTP, scanning.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from anyio.to_thread import run_sync
from pydantic import TypeAdapter, ValidationError

from api.params.fields import InputText
from api.params.scan import MAX_BATCH_INPUTS
from api.responses.errors import with_hint
from api.schemas.result import BatchItem, BatchResult, BatchSongList, ResultNote
from api.services.job_document import notes, poll_url, ranking_of
from api.services.reads.sources import Deadline, Sources
from pipelines.captures.inputs import ACCEPTED_INPUT_HINT, SONG_LIST_KINDS, InputTarget
from pipelines.captures.session import Captures
from pipelines.parameters.scan import ScanParameters
from pipelines.scan.service.service import ScanService
from warehouse.control import links
from warehouse.records import errors
from warehouse.records.values import is_platform_id
from warehouse.records.videos import ServiceSongList

_KINDS: Mapping[str, Literal["playlist", "album", "artist"]] = {
    "service_playlist": "playlist",
    "service_album": "album",
    "service_artist": "artist",
}

type FindTarget = Callable[[str], InputTarget | None]
_TEXT = TypeAdapter[str](InputText)
_ITEM_ERRORS = (errors.InputError, errors.CapacityExhaustedError, errors.WarehouseError)
"""Errors of a single item; any other error fails the whole request."""


@dataclass(frozen=True, slots=True)
class BatchInput:
    """One track of a batch.

    Attributes:
        text: The input as the response repeats it.
        scan_input: The input that the scan service gets.
        label: Title and artist of a song of a list.
        list_input: The link of the list that the song comes from.
        error: Why the input could not be read; then no scan is requested.
    """

    text: str
    scan_input: str
    label: str | None = None
    list_input: str | None = None
    error: errors.SametrackError | None = None


@dataclass(frozen=True, slots=True)
class BatchInputs:
    """The tracks of a batch in order, and the lists that some of them come from."""

    tracks: tuple[BatchInput, ...]
    lists: tuple[BatchSongList, ...] = ()

    def notes(self) -> list[ResultNote]:
        """Return one remark per list of which songs were left out."""
        notes: list[ResultNote] = []
        for entry in self.lists:
            left_out, count = entry["left_out_count"], entry["song_count"]
            title = entry["title"] or entry["input"]
            if left_out:
                notes.append(
                    {
                        "type": "songs_left_out",
                        "message": f"{left_out} of the {count} songs of {title!r} are left out: a "
                        f"batch has at most {MAX_BATCH_INPUTS} tracks",
                        "message_zh": f"「{title}」共 {count} 首，{left_out} 首未处理："
                        f"一次最多 {MAX_BATCH_INPUTS} 首",
                    }
                )
        return notes


type _ReadInput = BatchInput | tuple[str, ServiceSongList]
"""An input that is one track or an error, or the kind of a list with its songs."""


async def expand_inputs(
    texts: Sequence[str], *, find_target: FindTarget, sources: Sources | None
) -> BatchInputs:
    """Replace links to lists of songs by the songs, within the limit of a batch.

    Without such a link nothing is read.

    Raises:
        ProfileNotChosenError: There is such a link, but nothing may be read.
    """
    list_links = [_find_list_link(text, find_target, sources) for text in texts]
    if not any(list_links):
        return BatchInputs(tuple(BatchInput(text, text) for text in texts))
    if sources is None:
        raise errors.ProfileNotChosenError("No platform profile is chosen, so nothing is contacted")
    # One deadline for all links: a batch is one request.
    deadline = Deadline(sources.settings.sync_request_timeout)
    async with sources.open("music", for_user=False, has_songs=True) as captures:
        read_inputs: list[_ReadInput] = [
            BatchInput(text, text)
            if link is None
            else await _read_link(captures, sources, text, link, deadline)
            for text, link in zip(texts, list_links, strict=True)
        ]

    # Every input keeps at least one place; a list takes what the inputs after it leave free.
    tracks: list[BatchInput] = []
    lists: list[BatchSongList] = []
    for index, (text, read_input) in enumerate(zip(texts, read_inputs, strict=True)):
        if isinstance(read_input, BatchInput):
            tracks.append(read_input)
            continue
        kind, song_list = read_input
        count_after = len(texts) - index - 1
        songs = song_list.songs[: MAX_BATCH_INPUTS - len(tracks) - count_after]
        for song in songs:
            link_text = sources.profile.song_link(song.track_id)
            label = " - ".join(name for name in (song.title, song.artist) if name)
            tracks.append(BatchInput(link_text, link_text, label=label or None, list_input=text))
        # A service may state more songs than it shows to guests.
        count = max(len(song_list.songs), song_list.stated_count or 0)
        lists.append(
            {
                "input": text,
                "kind": _KINDS[kind],
                "title": song_list.title,
                "song_count": count,
                "taken_count": len(songs),
                "left_out_count": count - len(songs),
            }
        )
    return BatchInputs(tuple(tracks), tuple(lists))


def _find_list_link(
    text: str, find_target: FindTarget, sources: Sources | None
) -> InputTarget | None:
    """Return the link if it leads to a list of songs, or may: a short link names no target."""
    target = find_target(text)
    if target is None:
        return None
    if target.kind == "short" and target.url is not None and sources is not None:
        return target if sources.profile.is_service_short_link(target.url) else None
    return target if target.kind in SONG_LIST_KINDS and is_platform_id(target.id) else None


async def _read_link(
    captures: Captures, sources: Sources, text: str, link: InputTarget, deadline: Deadline
) -> _ReadInput:
    """Follow a link and read its list. An error of one input becomes an item of the batch."""
    try:
        async with deadline.guard(link.kind):
            if link.url is not None:
                # A short link that a scan has followed before leads to a track, not to a list.
                if await run_sync(links.read, sources.control, link.url) is not None:
                    return BatchInput(text, text)
                link = await captures.follow_link(link.url)
            if link.kind == "service_track":
                # The link of the song itself, so that the scan does not follow it again.
                return BatchInput(text, sources.profile.song_link(link.id))
            if link.kind not in SONG_LIST_KINDS:
                return BatchInput(text, text)
            song_list = await captures.song_list(link.kind, link.id)
            if not song_list.songs:
                raise errors.InvalidMusicInputError(
                    f"The list {song_list.title or link.id!r} shows no songs",
                    hint=ACCEPTED_INPUT_HINT,
                )
            return link.kind, song_list
    except (errors.InputError, errors.UpstreamError, errors.ProviderUnsupportedError) as error:
        return BatchInput(text, text, error=error)


def to_batch(
    scan_service: ScanService, inputs: BatchInputs, parameters: ScanParameters
) -> BatchResult:
    """Request a scan for each track and return the `data` of endpoint 6.

    Raises:
        ProviderUnsupportedError: The configured source does not support scans.
    """
    items: list[BatchItem] = []
    for track in inputs.tracks:
        # An invalid input is an item with an error; a fault of the service fails the request.
        scan, error = None, track.error
        try:
            if error is None:
                scan_input = _check_input(track.scan_input)
                scan = scan_service.ask(scan_input, parameters, origin="api")
        except _ITEM_ERRORS as item_error:
            error = item_error
        items.append(
            {
                "input": track.text,
                "label": track.label,
                "list_input": track.list_input,
                "ok": error is None,
                "status": None if scan is None else scan.job.status,
                "job_id": None if scan is None else scan.job.job_id,
                "poll_url": None if scan is None else poll_url(scan.job.job_id),
                "result": None if scan is None else ranking_of(scan, parameters),
                "error": None if error is None else with_hint(error.to_document()),
            }
        )
    ok_count = sum(item["ok"] for item in items)
    return {
        "items": items,
        "lists": list(inputs.lists),
        "ok_count": ok_count,
        "error_count": len(items) - ok_count,
        "notes": [*notes(parameters), *inputs.notes()],
        "is_demo_data": scan_service.world.is_demo,
    }


def _check_input(text: str) -> str:
    """Validate an input as the operation for a single track does."""
    try:
        return _TEXT.validate_python(text)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        raise errors.InvalidMusicInputError(
            str(problem["msg"]), hint=ACCEPTED_INPUT_HINT
        ) from error
