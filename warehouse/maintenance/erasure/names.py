"""Names of an account in this warehouse: its ids, its videos, the names it displayed.

The proof searches for `ids`. `words`, which other accounts may use too, only decide which bodies
and pages are deleted. A shorter displayed name occurs in other words: only a cell that equals it,
or the title of a sound, counts.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

from warehouse.engine.duckdb_engine import Engine
from warehouse.records.erasure import sound_title
from warehouse.records.errors import UnresolvedIdError

_SEC_UID = re.compile(r"[0-9A-Za-z_.-]{16,200}")
_HANDLE = re.compile(r"@[0-9a-z_.-]{2,64}")
_MIN_ID_CHARS = 6  # a shorter number occurs in too many other places
_MIN_WORD_CHARS = 4
_MIN_WIDE_CHARS = 2  # two Chinese characters can be a full name


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountNames:
    """Names of one account. `sounds`: hashes of the sounds of its videos.

    `displayed` are all names it had, `words` those that are long enough to be searched in texts.

    `handles` are its public handles as inputs name them: `@name` in lower case. `sec_uid` is itself
    a handle if no account with that handle was observed.
    """

    sec_uid: str
    handles: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    videos: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    displayed: frozenset[str] = frozenset()
    sounds: frozenset[str] = frozenset()

    @property
    def ids(self) -> frozenset[str]:
        """Ids that must not occur anywhere afterwards, and are not collected again."""
        return frozenset({self.sec_uid, *self.numbers, *self.videos, *self.handles})

    @property
    def marked(self) -> frozenset[str]:
        """What its marks recognise: its ids, and the titles of its sounds."""
        return self.ids | frozenset(map(sound_title, self.displayed))

    @property
    def sound_titles(self) -> frozenset[str]:
        """Titles of its sounds under the names that are too short to be searched in texts."""
        return frozenset(map(sound_title, self.displayed - self.words))

    @property
    def texts(self) -> frozenset[str]:
        """What names it in the texts of others: distinctive names, and titles of its sounds."""
        return self.words | self.sound_titles

    def with_more(self, other: "AccountNames") -> "AccountNames":
        """Combine with names that were stored while the first ones were being erased."""
        sets = [field.name for field in fields(self) if field.name != "sec_uid"]
        return replace(self, **{name: getattr(self, name) | getattr(other, name) for name in sets})


def find_sec_uid(engine: Engine, account: str) -> str:
    """Return the sec_user_id of an account, which `account` names by itself, by number or handle.

    `@` and a handle that no observed account has is returned unchanged: jobs and requests that name
    the handle can still be erased.

    Raises:
        UnresolvedIdError: No account or several accounts match.
    """
    handle = account.strip().lower()
    is_handle = _HANDLE.fullmatch(handle) is not None
    accounts = engine.rows(
        """
        select distinct sec_uid from (
            select sec_uid, uid, unique_id, null as short_id from raw.videos
            union all select sec_uid, uid, unique_id, short_id from raw.accounts
        ) where sec_uid is not null and (
            $account in (uid, unique_id, short_id)
            or $handle in ('@' || lower(unique_id), '@' || lower(short_id))
        )
        """,
        {"account": account, "handle": handle},
    )
    if len(accounts) == 1:
        return str(accounts[0]["sec_uid"])
    if not accounts and is_handle:
        return handle
    if not accounts and _SEC_UID.fullmatch(account):
        return account
    problem = f"{len(accounts)} accounts have" if accounts else "no observed account has"
    raise UnresolvedIdError(
        f"{problem} the number or handle {account!r}", hint="give the account's sec_user_id"
    )


def find_account_names(engine: Engine, sec_uid: str) -> AccountNames:
    """Return everything in the warehouse that names an account; at least its id."""
    engine.refresh()
    profiles = engine.rows(_DISPLAYED_SQL, {"id": sec_uid})
    numbers = frozenset(
        str(row["uid"]) for row in profiles if row["uid"] and len(row["uid"]) >= _MIN_ID_CHARS
    )
    videos = engine.rows(_ACCOUNT_VIDEOS_SQL, {"id": sec_uid, "uids": sorted(numbers)})
    ids = sorted({str(row["aweme_id"]) for row in videos})
    sounds = engine.rows(_SOUNDS_SQL, {"videos": ids})
    handles = {f"@{row[name]}".lower() for row in profiles for name in _HANDLE_COLUMNS if row[name]}
    displayed = {
        str(row[name]) for row in profiles for name in ("nickname", *_HANDLE_COLUMNS) if row[name]
    }
    return AccountNames(
        sec_uid=sec_uid,
        handles=frozenset(name for name in handles if _HANDLE.fullmatch(name)),
        numbers=numbers,
        videos=frozenset(ids),
        words=frozenset(
            name
            for name in displayed
            if len(name) >= (_MIN_WORD_CHARS if name.isascii() else _MIN_WIDE_CHARS)
        ),
        displayed=frozenset(displayed),
        sounds=frozenset(str(row["sha256"]) for row in sounds),
    )


def to_pattern(names: Iterable[str]) -> re.Pattern[bytes]:
    """Return a pattern that finds any of these names in bytes, as text or JSON-escaped.

    A handle (`@name`) is found where it is all of a text, or the parameter of a request: texts of
    others mention it, and longer handles begin with it.
    """
    names = frozenset(names)
    handles = sorted(name for name in names if _HANDLE.fullmatch(name))
    forms = {
        form
        for name in names.difference(handles)
        for form in (name.encode(), json.dumps(name)[1:-1].encode())
    }
    forms |= {form.replace(b"/", rb"\/") for form in forms} | {
        form.replace(b"/", rb"\u002F") for form in forms
    }
    # Longest first: an alternative that begins another one would match in its place.
    alternatives = [re.escape(form) for form in sorted(forms, key=lambda form: (-len(form), form))]
    for handle in handles:
        name = re.escape(handle[1:].encode())
        # All of a cell, a line or a JSON string, or after the word `user` of a link's reason.
        alone = rb"(?:(?<![^\x00\n\"])|(?<=user ))@" + name + rb'(?:[\x00\n"]|\Z)'
        parameter = rb"unique_id=" + name + rb"(?![0-9a-z_.-])"
        alternatives.append(rb"(?i:" + alone + rb"|" + parameter + rb")")
    return re.compile(b"|".join(alternatives) or b"(?!)")


_HANDLE_COLUMNS = ("unique_id", "short_id")
_DISPLAYED_SQL = """
    select uid, unique_id, null as short_id, nickname from raw.videos where sec_uid = $id
    union select uid, unique_id, short_id, nickname from raw.accounts where sec_uid = $id
    union select null, unique_id, null, nickname from marts.account_summaries where sec_uid = $id
"""
_ACCOUNT_VIDEOS_SQL = """
    select aweme_id from raw.videos where sec_uid = $id or uid in (select unnest($uids::varchar[]))
    union select aweme_id from marts.confirmed_videos where sec_uid = $id
    union select aweme_id from marts.variants where sec_uid = $id
    union select top_aweme_id from marts.account_summaries where sec_uid = $id
    union select aweme_id from raw.capture_items
        where entity_id = $id and surface like 'user\\_%' escape '\\'
"""
_SOUNDS_SQL = """
    with own_videos as (select unnest($videos::varchar[]) as aweme_id)
    select sound_sha256 as sha256 from raw.sounds where aweme_id in (from own_videos)
    union select candidate_sha256 from marts.audio_comparisons
        where candidate_aweme_id in (from own_videos) and candidate_sha256 is not null
    union select reference_sha256 from marts.audio_comparisons
        where reference_aweme_id in (from own_videos) and reference_sha256 is not null
"""
