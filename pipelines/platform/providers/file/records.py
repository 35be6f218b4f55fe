"""Records of the provider `file`, and reading its two files with exact error messages.

Field names follow the responses of this service. Unknown names are refused: a misspelt count would
be lost silently. Validators report a path of keys and indexes; users need its line in the text.
"""

import re
from collections.abc import Sequence
from json import JSONDecoder
from pathlib import Path
from typing import Annotated

import pydantic

from warehouse.files import read_text
from warehouse.records.errors import InvalidParameterError
from warehouse.records.times import END_S
from warehouse.records.values import MAX_COUNT, PLATFORM_ID
from warehouse.records.videos import MediaType

GUIDE = "docs/files.md describes both files, with an example of each"

Id = Annotated[str, pydantic.StringConstraints(pattern=f"^{PLATFORM_ID}$")]
SecUid = Annotated[
    str, pydantic.StringConstraints(min_length=1, max_length=256, pattern=r"^[!-~]+$")
]
Text = Annotated[str, pydantic.StringConstraints(max_length=10_000)]
FileCount = Annotated[int, pydantic.Field(ge=0, le=MAX_COUNT)]
FileTime = Annotated[int, pydantic.Field(ge=0, lt=END_S)]


class _Record(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", frozen=True, strict=True)


class UserRecord(_Record):
    """One account."""

    sec_uid: SecUid
    uid: Id | None = None
    unique_id: Text | None = None
    short_id: Text | None = None
    nickname: Text | None = None
    signature: Text | None = None
    avatar_url: Text | None = None
    follower_count: FileCount | None = None
    following_count: FileCount | None = None
    aweme_count: FileCount | None = None
    total_favorited: FileCount | None = None
    favoriting_count: FileCount | None = None
    ip_location: Text | None = None


class AuthorRecord(_Record):
    """The author of a video."""

    sec_uid: SecUid
    uid: Id | None = None
    unique_id: Text | None = None
    nickname: Text | None = None
    avatar_url: Text | None = None


class MusicRecord(_Record):
    """The music of a video."""

    id_str: Id
    title: Text | None = None
    author: Text | None = None
    duration: FileCount | None = None
    is_original_sound: bool | None = None


class HashtagRecord(_Record):
    """A hashtag of a video."""

    ch_id: Id
    name: Text


class CountsRecord(_Record):
    """The four counts of a video; unknown ones are left out."""

    digg_count: FileCount | None = None
    comment_count: FileCount | None = None
    collect_count: FileCount | None = None
    share_count: FileCount | None = None


class VideoRecord(_Record):
    """One video."""

    aweme_id: Id
    author: AuthorRecord
    desc: Text | None = None
    create_time: FileTime | None = None
    share_url: Text | None = None
    media_type: MediaType | None = None
    is_top: bool | None = None
    music: MusicRecord | None = None
    duration_ms: FileCount | None = None
    width: FileCount | None = None
    height: FileCount | None = None
    cover_url: Text | None = None
    images_count: FileCount | None = None
    hashtags: list[HashtagRecord] | None = None
    statistics: CountsRecord = CountsRecord()


_USERS = pydantic.TypeAdapter(list[UserRecord])
_VIDEOS = pydantic.TypeAdapter(list[VideoRecord])


def read_users(path: Path | None) -> tuple[UserRecord, ...]:
    """Read the accounts of `USERS_FILE`; empty if it is not set.

    Raises:
        InvalidParameterError: It cannot be read, or a record is invalid; with line and field.
    """
    users, text = _read(path, _USERS, setting="USERS_FILE")
    _refuse_duplicates(text, [user.sec_uid for user in users], "sec_uid", setting="USERS_FILE")
    return users


def read_videos(path: Path | None) -> tuple[VideoRecord, ...]:
    """Read the videos of `VIDEOS_FILE`; empty if it is not set.

    Raises:
        InvalidParameterError: It cannot be read, or a record is invalid; with line and field.
    """
    videos, text = _read(path, _VIDEOS, setting="VIDEOS_FILE")
    _refuse_duplicates(
        text, [video.aweme_id for video in videos], "aweme_id", setting="VIDEOS_FILE"
    )
    return videos


def _read[T](
    path: Path | None, adapter: pydantic.TypeAdapter[list[T]], *, setting: str
) -> tuple[tuple[T, ...], str]:
    if path is None:
        return (), "[]"
    text = read_text(path.expanduser(), what=f"the file of {setting}", hint=GUIDE)
    try:
        return tuple(adapter.validate_json(text)), text
    except pydantic.ValidationError as error:
        raise _to_input_error(error, text, setting) from error


def _to_input_error(
    error: pydantic.ValidationError, text: str, setting: str
) -> InvalidParameterError:
    """Return an error with line and field of the first problem, and the number of others."""
    first, *others = error.errors(include_url=False, include_input=False)
    more = f" ({len(others)} more)" if others else ""
    if first["type"] == "json_invalid":
        why = str(first.get("ctx", {}).get("error", first["msg"]))
        return InvalidParameterError(f"{setting} is not JSON: {why}", hint=GUIDE)
    line = find_line(text, first["loc"])
    field = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"])
    return InvalidParameterError(
        f"{setting}, line {line}, field {field or 'at the top'}: {first['msg']}{more}", hint=GUIDE
    )


def _refuse_duplicates(text: str, ids: list[str], name: str, *, setting: str) -> None:
    """Raise for a duplicate record: it is unclear which one applies."""
    earlier: set[str] = set()
    for index, record_id in enumerate(ids):
        if record_id in earlier:
            raise InvalidParameterError(
                f"{setting}, line {find_line(text, [index, name])}, field [{index}].{name}: "
                f"duplicate {record_id}",
                hint=GUIDE,
            )
        earlier.add(record_id)


_BLANK = re.compile(r"[ \t\n\r]*")
_DECODER = JSONDecoder()


def find_line(text: str, path: Sequence[str | int]) -> int:
    """Return the line (from 1) of the value at a path, or of its last existing part."""
    at = _skip(text, 0)
    for step in path:
        inner = _member(text, at, step) if isinstance(step, str) else _element(text, at, step)
        if inner is None:  # the validator names a missing field by its own path
            break
        at = inner
    return text.count("\n", 0, at) + 1


def _member(text: str, at: int, key: str) -> int | None:
    """Return the offset of a key's value in the object that begins at `at`."""
    if text[at] != "{":
        return None
    at = _skip(text, at + 1)
    while text[at] == '"':
        name, at = _DECODER.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        if name == key:
            return at
        at = _after(text, at)
    return None


def _element(text: str, at: int, index: int) -> int | None:
    """Return the offset of an element in the array that begins at `at`."""
    if text[at] != "[":
        return None
    at = _skip(text, at + 1)
    for _ in range(index):
        at = _after(text, at)
    return at


def _after(text: str, at: int) -> int:
    """Return the offset of the next member or element after the value at `at`."""
    _, end = _DECODER.raw_decode(text, at)
    end = _skip(text, end)
    return _skip(text, end + 1) if text[end] == "," else end


def _skip(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    return blank.end() if blank else at
