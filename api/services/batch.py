"""Endpoint 6: several tracks at once, each processed independently.

A link to a list of songs becomes its songs. Not here: HTTP, scanning.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from anyio.to_thread import run_sync
from pydantic import TypeAdapter, ValidationError

from api.params.scan import MAX_BATCH_INPUTS, InputText
from api.responses.errors import with_hint
from api.schemas.result import BatchItem, BatchResult, BatchSongList, ResultNote
from api.services.job_document import notes, poll_url, ranking_of
from api.services.reads.deadline import Deadline
from api.services.reads.sources import Sources
from pipelines.captures.inputs import (
    ACCEPTED_INPUT_HINT,
    SONG_LIST_KINDS,
    InputTarget,
)
from pipelines.captures.session import Captures
from pipelines.parameters.scan import ScanParameters
from pipelines.scan.service.service import ScanService
from warehouse.control import links
from warehouse.records.errors import (
    CapacityExhaustedError,
    InputError,
    InvalidMusicInputError,
    ProfileNotChosenError,
    ProviderUnsupportedError,
    SametrackError,
    UpstreamError,
    WarehouseError,
)
from warehouse.records.values import is_platform_id
from warehouse.records.videos import ListedSong, ServiceSongList

_KINDS: Mapping[str, Literal["playlist", "album", "artist"]] = {
    "service_playlist": "playlist",
    "service_album": "album",
    "service_artist": "artist",
}

type FindTarget = Callable[[str], InputTarget | None]
_TEXT = TypeAdapter[str](InputText)
_ITEM_ERRORS = (InputError, CapacityExhaustedError, WarehouseError)
"""Errors of a single item; any other error fails the whole request."""


@dataclass(frozen=True, slots=True)
class BatchInput:
    """One track of a batch: `shown` in the answer, `asked` of the scan service.

    `error`: the input could not be taken apart, so nothing is asked.
    """

    shown: str
    asked: str
    label: str | None = None
    list_input: str | None = None
    error: SametrackError | None = None


@dataclass(frozen=True, slots=True)
class BatchInputs:
    """The tracks of a batch in order, and the lists that some of them come from."""

    tracks: tuple[BatchInput, ...]
    lists: tuple[BatchSongList, ...] = ()

    def notes(self) -> list[ResultNote]:
        """Return one remark per list of which songs were left out."""
        return [_left_out_note(one) for one in self.lists if one["left_out_count"]]


type _Read = BatchInput | tuple[str, ServiceSongList]
"""An input that is one track or an error, or the kind of a list with its songs."""


async def expand_inputs(
    texts: Sequence[str], *, find_target: FindTarget, sources: Sources | None
) -> BatchInputs:
    """Replace links to lists of songs by the songs, within the limit of a batch.

    Every input keeps at least one place; a list takes what the inputs behind it leave free. Without
    such a link nothing is read.

    Raises:
        ProfileNotChosenError: There is such a link, but nothing may be read.
    """
    links = [_list_link(text, find_target, sources) for text in texts]
    if not any(links):
        return BatchInputs(tuple(BatchInput(text, text) for text in texts))
    if sources is None:
        raise ProfileNotChosenError("No platform profile is chosen, so nothing is contacted")
    deadline = Deadline(sources.settings.sync_request_timeout)
    async with sources.songs() as captures:
        found = [
            await _read_or_refuse(captures, sources, text, link, deadline)
            for text, link in zip(texts, links, strict=True)
        ]
    return _place(texts, found, sources.profile.song_link)


def _list_link(text: str, find_target: FindTarget, sources: Sources | None) -> InputTarget | None:
    """Return the link if it leads to a list of songs, or may: a short link names no target."""
    target = find_target(text)
    if target is None:
        return None
    if target.kind == "short" and target.url is not None and sources is not None:
        return target if sources.profile.is_service_short_link(target.url) else None
    return target if target.kind in SONG_LIST_KINDS and is_platform_id(target.id) else None


async def _read_or_refuse(
    captures: Captures, sources: Sources, text: str, link: InputTarget | None, deadline: Deadline
) -> _Read:
    if link is None:
        return BatchInput(text, text)
    try:
        async with deadline.guard(link.kind):
            return await _read(captures, sources, text, link)
    except (InputError, UpstreamError, ProviderUnsupportedError) as error:
        return BatchInput(text, text, error=error)


async def _read(captures: Captures, sources: Sources, text: str, link: InputTarget) -> _Read:
    if link.url is not None:
        if await run_sync(links.read, sources.control, link.url) is not None:
            return BatchInput(text, text)  # a scan has followed it to its track before
        link = await captures.follow_link(link.url)
    if link.kind == "service_track":  # the link of the song, so that it is not followed again
        return BatchInput(text, sources.profile.song_link(link.id))
    if link.kind not in SONG_LIST_KINDS:
        return BatchInput(text, text)
    songs = await captures.song_list(link.kind, link.id)
    if not songs.songs:
        raise InvalidMusicInputError(
            f"The list {songs.title or link.id!r} shows no songs", hint=ACCEPTED_INPUT_HINT
        )
    return link.kind, songs


def _place(
    texts: Sequence[str], found: Sequence[_Read], song_link: Callable[[str], str]
) -> BatchInputs:
    tracks: list[BatchInput] = []
    lists: list[BatchSongList] = []
    for index, (text, one) in enumerate(zip(texts, found, strict=True)):
        if isinstance(one, BatchInput):
            tracks.append(one)
            continue
        kind, songs = one
        behind = len(found) - index - 1
        taken = songs.songs[: MAX_BATCH_INPUTS - len(tracks) - behind]
        tracks.extend(_to_input(text, song, song_link) for song in taken)
        lists.append(_to_list(text, kind, songs, len(taken)))
    return BatchInputs(tuple(tracks), tuple(lists))


def _to_input(text: str, song: ListedSong, song_link: Callable[[str], str]) -> BatchInput:
    link = song_link(song.track_id)
    label = " - ".join(name for name in (song.title, song.artist) if name)
    return BatchInput(link, link, label=label or None, list_input=text)


def _to_list(text: str, kind: str, songs: ServiceSongList, taken: int) -> BatchSongList:
    count = max(len(songs.songs), songs.stated_count or 0)
    return {
        "input": text,
        "kind": _KINDS[kind],
        "title": songs.title,
        "song_count": count,
        "taken_count": taken,
        "left_out_count": count - taken,
    }


def _left_out_note(one: BatchSongList) -> ResultNote:
    title, left, count = one["title"] or one["input"], one["left_out_count"], one["song_count"]
    return {
        "type": "songs_left_out",
        "message": f"{left} of the {count} songs of {title!r} are left out: a batch has at most "
        f"{MAX_BATCH_INPUTS} tracks",
        "message_zh": f"「{title}」共 {count} 首，{left} 首未处理：一次最多 {MAX_BATCH_INPUTS} 首",
    }


def to_batch(
    scan_service: ScanService, inputs: BatchInputs, parameters: ScanParameters
) -> BatchResult:
    """Request a scan for each track and return the `data` of endpoint 6.

    Raises:
        ProviderUnsupportedError: The configured source does not support scans.
    """
    items = [_to_item(scan_service, one, parameters) for one in inputs.tracks]
    ok_count = sum(item["ok"] for item in items)
    return {
        "items": items,
        "lists": list(inputs.lists),
        "ok_count": ok_count,
        "error_count": len(items) - ok_count,
        "notes": [*notes(parameters), *inputs.notes()],
        "is_demo_data": scan_service.world.is_demo,
    }


def _to_item(scan_service: ScanService, one: BatchInput, parameters: ScanParameters) -> BatchItem:
    error = one.error
    scan = None
    try:
        if error is None:
            scan = scan_service.ask(_checked_input(one.asked), parameters, origin="api")
    except _ITEM_ERRORS as raised:
        error = raised
    return {
        "input": one.shown,
        "label": one.label,
        "list_input": one.list_input,
        "ok": error is None,
        "status": None if scan is None else scan.job.status,
        "job_id": None if scan is None else scan.job.job_id,
        "poll_url": None if scan is None else poll_url(scan.job.job_id),
        "result": None if scan is None else ranking_of(scan, parameters),
        "error": None if error is None else with_hint(error.to_document()),
    }


def _checked_input(text: str) -> str:
    try:
        return _TEXT.validate_python(text)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)[0]
        raise InvalidMusicInputError(str(found["msg"]), hint=ACCEPTED_INPUT_HINT) from error
