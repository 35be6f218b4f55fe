"""JSON formats of the guest search: responses, items, other cards, empty results and refusals.

What belongs here: which fields a response has. Which videos it shows is decided in
`surfaces/search.py`.
"""

import hashlib
from collections.abc import Iterable

from pipelines.sandbox.server.documents.pages import Document
from pipelines.sandbox.server.documents.videos import detail_video
from pipelines.sandbox.server.platform import SandboxPlatform
from pipelines.sandbox.world.random_streams import share_of

_MIX = 0.08
"""Share of videos that are the first of a collection."""
LOGIN_CODE = 2483


def answer(
    platform: SandboxPlatform, term: str, offset: int, listed: list[Document], *,
    following: int, has_more: bool,
) -> Document:  # fmt: skip
    """Return one response: its items, the next offset, and the search id to request it with."""
    search_id = to_search_id(term, offset)
    return {
        "status_code": 0, "data": listed, "cursor": following, "has_more": int(has_more),
        "extra": {"now": platform.now * 1000, "logid": search_id},
        "log_pb": {"impr_id": search_id}, "qc": "", "path": "/aweme/v1/web/general/search/",
        "backtrace": to_backtrace(term, following), "guide_search_words": None,
        "global_doodle_config": {"keyword": term, "filter_settings": []},
    }  # fmt: skip


def items(platform: SandboxPlatform, rows: Iterable[int]) -> list[Document]:
    """Return videos as items; some are the first of a collection of their author."""
    world = platform.world
    listed: list[Document] = []
    for row in rows:
        work = world.works.row(row)
        shown = detail_video(platform, work)
        others = [other for other in world.first_screen(work.account).tolist() if other != row]
        if share_of(work.aweme_id, "mix") < _MIX and others:
            second = detail_video(platform, world.works.row(others[0]))
            listed.append({"aweme_mix_info": {"mix_items": [shown, second]}})
        else:
            listed.append({"type": 1, "aweme_info": shown})
    return listed


def cards(platform: SandboxPlatform, term: str, listed: list[Document]) -> list[Document]:
    """Add the other cards of a first screen: users, and related words."""
    world = platform.world
    person = world.account(int(share_of(term, "person") * world.account_count))
    people: Document = {
        "type": 4,
        "user_list": [{
            "user_info": {
                "uid": person.uid, "sec_uid": person.sec_uid, "nickname": person.nickname,
                "unique_id": person.unique_id, "follower_count": person.follower_count,
            },
        }],
    }  # fmt: skip
    words = [{"related_word": f"{term} {more}"} for more in ("原版", "翻唱")]
    related: Document = {"type": 6, "related_word_list": words}
    return [people, *listed[:3], related, *listed[3:]]


def nothing_found(platform: SandboxPlatform, term: str, *, is_first: bool) -> Document:
    """Return a response without results that says so."""
    nothing = answer(platform, term, 0, [], following=0, has_more=False)
    return {**nothing, "search_nil_info": nil_info("no_result", is_first=is_first)}


def verification(platform: SandboxPlatform, term: str) -> Document:
    """Return a demand for verification, which looks like an empty result."""
    empty = answer(platform, term, 0, [], following=0, has_more=False)
    empty.pop("backtrace")
    return {**empty, "search_nil_info": nil_info("verify_check", is_first=True)}


def login_wall() -> Document:
    """Return the demand for an account that anonymous calls get at times."""
    return {"status_code": LOGIN_CODE, "status_msg": "请先登录", "data": None}


def to_search_id(term: str, offset: int) -> str:
    """Return a search id: a date, a hash of the term, and six letters that differ by page."""
    return f"20251001180000{_mark(term)[:12]}{_mark(f'{term}:{offset}')[:6]}"


def to_backtrace(term: str, following: int) -> str:
    """Return the token that a client has to send back unchanged with its offset."""
    return f"bt:{_mark(f'{term}|{following}')[:16]}=="


def nil_info(kind: str, *, is_first: bool) -> Document:
    return {
        "search_nil_type": kind, "search_nil_item": kind, "text_type": 9,
        "is_load_more": "first_flush" if is_first else "load_more",
    }  # fmt: skip


def _mark(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=10).hexdigest().upper()
