"""Rewrites of good requests and responses: states that look healthy at first sight, and forms.

What belongs here: what the documents of a good response become in each state, one function per
form of a switch, and how a request comes to name another entity of the same kind. Faults that
replace the response are in `faults.py`; all are applied in `gateway.py`.
"""

import json
import re
from collections.abc import Callable, Mapping
from urllib.parse import parse_qs, quote, unquote, urlencode

from starlette.types import Scope

from sandbox.server.addresses import PAGE_SCRIPTS, PAGE_STYLES, SandboxUrls
from sandbox.server.documents.pages import (
    Document,
    read_frames,
    to_client_page,
    to_frames,
    to_json,
)
from sandbox.server.platform import SandboxPlatform
from sandbox.server.routing import CHART_PLACE
from sandbox.server.surfaces.search import nil_info
from sandbox.world.world import SandboxWorld

Documents = list[Document]
Query = Mapping[str, str]

CURSORS = ("cursor", "max_cursor", "offset")
_FEATURES = re.compile(rb"global\.features = \[.*\];")
_EVERYWHERE = (
    (b'"aweme_list"', b'"awemes"'), (b'"item_list"', b'"entries"'),
    (b'"videoInfoRes"', b'"videoData"'), (b'"aweme_details"', b'"works"'),
    (b'"music_info"', b'"sound"'), (b'"user_info"', b'"person"'),
    (b'"has_more"', b'"more"'), (b'"ch_info"', b'"tag"'), (b'"aweme_detail"', b'"work"'),
    (b'"postListData"', b'"posts"'), (b'"slidesInfoRes"', b'"slidesData"'),
    (b'"awemeId"', b'"workId"'), (b'\\"awemeId\\"', b'\\"workId\\"'),
    (b'"vols"', b'"numbers"'), (b"global.features", b"global.songs"),
)  # fmt: skip
_ON_SURFACE = {
    "search_stream": ((b'"data"', b'"results"'),), "search_single": ((b'"data"', b'"results"'),),
    "chart_songs": ((b'"info"', b'"songs"'),), "chart_latest": ((b'"list"', b'"songlist"'),),
}  # fmt: skip
_NUMBER = re.compile(r"[0-9]{19}")
_STEPS = 10  # more than the most empty pages in a row
_OTHER_WORDS = "今天的晚霞"


class StateNotApplicableError(Exception):
    """The surface does not support the state."""


def rewrite(kind: str, surface: str, body: bytes, query: Query) -> bytes:
    """Rewrite the body of a good response into a state.

    Raises:
        StateNotApplicableError: The surface does not support the state.
    """
    if kind in _ON_BODIES:
        return _ON_BODIES[kind](surface, body)
    if kind == "cold_edge" and _FEATURES.search(body):
        return _FEATURES.sub(b"global.features = [];", body)
    is_framed = surface == "search_stream"
    try:
        documents = read_frames(body) if is_framed else [json.loads(body)]
    except ValueError as exc:
        raise StateNotApplicableError(f"{kind} does not apply to {surface}") from exc
    if kind == "verify_then_healthy" and not is_framed:
        raise StateNotApplicableError(f"{kind} does not apply to {surface}")
    changed = _changed(kind, documents, query)
    return to_frames(changed) if is_framed else to_json(changed[-1]).encode()


def reform(form: str, body: bytes, addresses: SandboxUrls) -> bytes:
    """Return a body in the form of a switch."""
    return _FORMS[form](body, addresses)


def without_empty_pages(query: Query) -> dict[str, str]:
    """Return a query with the surface's own cursor in place of the one of `with_empty_pages`."""
    own = {key: str(int(query[key]) // _STEPS) for key in CURSORS if query.get(key, "").isdigit()}
    return {**query, **own}


def with_empty_pages(surface: str, body: bytes, query: Query, *, count: int) -> bytes:
    """Return a page of a list that has `count` empty pages after its first one.

    The cursors that clients get are those of the surface with a digit more: the number of the empty
    page that they lead to, 0 for a page of the surface.
    """
    asked = _asked_cursor(query)
    own, step = divmod(asked, _STEPS)
    is_empty = 1 <= step <= count
    changed = []
    for document in read_frames(body) if surface == "search_stream" else [json.loads(body)]:
        key = next((key for key in CURSORS if key in document), None)
        if key is None:
            changed.append(document)
        elif is_empty:
            emptied = {name: [] if isinstance(value, list) else value
                       for name, value in document.items() if name != "backtrace"}  # fmt: skip
            changed.append({**emptied, key: asked + 1, "has_more": 1})
        else:
            following = int(str(document[key]))
            is_first_end = asked == 0 and following != 0
            moved = asked if following == own else following * _STEPS + is_first_end
            changed.append({**document, key: moved})
    return to_frames(changed) if surface == "search_stream" else to_json(changed[-1]).encode()


async def substitute(scope: Scope, surface: str, platform: SandboxPlatform) -> None:
    """Change a request in place so that it names another entity of the same kind."""
    if surface.startswith("chart"):
        scope[CHART_PLACE] = max(0, _asked_place(scope, platform) - 1)
        return
    others = (await platform.text_index()).ch_ids() if surface.startswith("hashtag") else []
    query = unquote(scope["query_string"].decode("latin-1"))
    scope["path"] = _other_ids(scope["path"], platform.world, others)
    scope["query_string"] = quote(_other_ids(query, platform.world, others), safe="=&").encode()
    if surface.startswith("search"):
        scope["query_string"] = urlencode({"keyword": _OTHER_WORDS}).encode()


def _asked_place(scope: Scope, platform: SandboxPlatform) -> int:
    """Return the position of the requested issue, or of the latest one."""
    calendar = platform.chart.calendar
    fields = parse_qs(scope["query_string"].decode("latin-1"))
    in_path = re.search(r"-([0-9]+)\.html", scope["path"])
    volid = fields.get("volid", [in_path[1] if in_path else ""])[0]
    issue = calendar.find(volid)
    return platform.issue_count - 1 if issue is None else issue.place


def _other_ids(text: str, world: SandboxWorld, hashtags: list[str]) -> str:
    def other(found: re.Match[str]) -> str:
        work, sound = world.video_of_id(found[0]), world.sound_of(found[0])
        if work is not None:
            return str(world.works.aweme_id[(work.index + 1) % len(world.works)])
        if sound is not None:
            return str(world.sounds.music_id[(sound.index + 1) % len(world.sounds)])
        if found[0] in hashtags:
            return hashtags[(hashtags.index(found[0]) + 1) % len(hashtags)]
        return found[0]

    text = _NUMBER.sub(other, text)
    for index in range(world.account_count):
        if world.sec_uid(index) in text:
            following = world.sec_uid((index + 1) % world.account_count)
            return text.replace(world.sec_uid(index), following)
    return text


def _with_scripts_elsewhere(body: bytes, addresses: SandboxUrls) -> bytes:
    scripts = addresses.on(PAGE_SCRIPTS, "/").encode()
    styles = addresses.on(PAGE_STYLES, "/static/page.css").encode()
    linked = b'<head><link rel="stylesheet" href="' + styles + b'">'
    return body.replace(b'src="/', b'src="' + scripts).replace(b"<head>", linked, 1)


def _texts(body: bytes) -> list[bytes]:
    return [to_json(document).encode() for document in read_frames(body)]


_END = b"0\r\n\r\n"
_TOKEN = b'<head><meta name="argus-csp-token" content="dG9rZW4">'
_FORMS: dict[str, Callable[[bytes, SandboxUrls], bytes]] = {
    "page_client_side": lambda body, _: to_client_page(body),
    "argus_csp_token": lambda body, _: body.replace(b"<head>", _TOKEN, 1),
    "page_scripts_elsewhere": _with_scripts_elsewhere,
    "search_stream_unended": lambda body, _: body.removesuffix(_END),
    "search_stream_cut": lambda body, _: body.removesuffix(_END)[:-40],
    "search_stream_glued": lambda body, _: b"".join(_texts(body)),
    "search_stream_lines": lambda body, _: b"".join(text + b"\n" for text in _texts(body)),
}


def _restructured(surface: str, body: bytes) -> bytes:
    """Rename keys."""
    if surface == "search_stream":
        return to_frames(json.loads(_renamed(surface, text)) for text in _texts(body))
    return _renamed(surface, body)


def _renamed(surface: str, body: bytes) -> bytes:
    for old, new in (*_EVERYWHERE, *_ON_SURFACE.get(surface, ())):
        body = body.replace(old, new)
        body = body.replace(quote(old, safe="").encode(), quote(new, safe="").encode())
    return body


def _overseas(_: str, body: bytes) -> bytes:
    return body.replace(b'"is_oversea":0', b'"is_oversea":1').replace(
        b"%22is_oversea%22%3A0", b"%22is_oversea%22%3A1"
    )


_ON_BODIES: dict[str, Callable[[str, bytes], bytes]] = {
    "structure": _restructured,
    "res_tag": lambda _, body: b"<!--KG_TAG_RES_START-->" + body + b"<!--KG_TAG_RES_END-->",
    "overseas": _overseas,
}
_REPLACED: dict[str, Document] = {
    "login_2483": {"status_code": 2483, "status_msg": "请先登录", "data": None},
    "status_code_8": {"status_code": 8, "status_msg": "用户未登录"},
    "signature_demanded": {"status_code": 11110, "status_msg": "encrypt_data_miss"},
    "captcha_json": {
        "code": "10000", "from": "", "type": "verify", "version": "2", "subtype": "slide",
        "verify_event": "", "fp": "verify_0",
    },
    "code_10001010A": {"code": "10001010A", "msg": "访问过于频繁，请稍后重试"},
    "chart_1002": {"status": 0, "errcode": 1002, "error": "操作太频繁", "data": {}},
}  # fmt: skip
"""What stands in place of the response."""
_CHANGED: dict[str, Document] = {
    "timestamp_only": {"data": {"timestamp": 1_759_300_000}},
    "chart_status": {"status": 0, "errcode": 20028, "error": "busy", "data": {}},
    "chart_errcode": {"errcode": 30001, "error": "param"},
}
"""Fields of the last document that have another value."""
_EMPTIED: dict[str, Document] = {
    "empty_ambiguous": {"has_more": 0},
    "empty_but_more": {"has_more": 1},
    **{
        kind: {"has_more": 0, "search_nil_info": nil_info(reason, is_first=True)}
        for kind, reason in (
            ("nil", "no_result"), ("verify_check", "verify_check"),
            ("verify_then_healthy", "verify_check"), ("hit_shark", "hit_shark"),
            ("antispam_check", "antispam_check"), ("params_check", "params_check"),
            ("invalid_app", "invalid_app"),
        )
    },
}  # fmt: skip
"""The same where its lists are empty, too."""
_FOLLOWING = {"stalled_cursor": 0, "no_new_items": 10}
"""By how much the cursor goes on while more pages are announced. For `no_new_items` the gateway
requests the first page again."""


def _changed(kind: str, documents: Documents, query: Query) -> Documents:
    """Return the documents of a response in a state."""
    last = documents[-1]
    if kind in _REPLACED:
        return [_REPLACED[kind]]
    if kind in _CHANGED:
        return [{**last, **_CHANGED[kind]}]
    if kind in _EMPTIED:
        emptied = {key: [] if isinstance(value, list) else value for key, value in last.items()}
        healthy = documents if kind == "verify_then_healthy" else []
        return [{**emptied, **_EMPTIED[kind]}, *healthy]
    if kind in _FOLLOWING:
        following = _asked_cursor(query) + _FOLLOWING[kind]
        return [
            {**one, **{key: following for key in CURSORS if key in one}, "has_more": 1}
            for one in documents
        ]
    return [_cold_edge(last) if kind == "cold_edge" else _empty_detail(last)]


def _cold_edge(document: Document) -> Document:
    for outer, inner in (("data", "info"), ("songs", "list")):
        held = document.get(outer)
        if isinstance(held, dict):
            return {**document, outer: {**held, inner: []}}
    raise StateNotApplicableError("only the chart has cold edges")


def _empty_detail(document: Document) -> Document:
    """Return neither the video nor a reason."""
    held = [key for key in ("aweme_detail", "aweme_details") if key in document]
    if not held:
        raise StateNotApplicableError("empty_detail applies to details only")
    emptied = {**document, "filter_list": []}
    emptied.update(dict.fromkeys(held))
    emptied.pop("filter_detail", None)
    return emptied


def _asked_cursor(query: Query) -> int:
    text = next((query[key] for key in CURSORS if query.get(key, "").isdigit()), "0")
    return int(text)
