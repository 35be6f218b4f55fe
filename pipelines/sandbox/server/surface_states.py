"""Rewrites of a good response: faulty states that look healthy at first sight, and other forms.

What belongs here: one function per state, from the documents of a good response to those of the
faulty one, and one per form of a switch. Faults that replace the response are in `faults.py`; all
are applied in `gateway.py`.
"""

import json
import re
from collections.abc import Callable, Mapping
from urllib.parse import quote

from pipelines.sandbox.server.addresses import PAGE_SCRIPTS, PAGE_STYLES, SandboxUrls
from pipelines.sandbox.server.documents.pages import Document, read_frames, to_frames
from pipelines.sandbox.server.documents.search import login_wall, nil_info

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
    (b'"vols"', b'"numbers"'), (b"global.features", b"global.songs"),
)  # fmt: skip
_ON_SURFACE = {
    "search_stream": ((b'"data"', b'"results"'),), "search_single": ((b'"data"', b'"results"'),),
    "chart_songs": ((b'"info"', b'"songs"'),), "chart_latest": ((b'"list"', b'"songlist"'),),
}  # fmt: skip


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
    changed = _ON_DOCUMENTS[kind](documents, query)
    return to_frames(changed) if is_framed else _dumped(changed[-1])


def reform(form: str, body: bytes, addresses: SandboxUrls) -> bytes:
    """Return a body in the form of a switch."""
    return _FORMS[form](body, addresses)


def _with_token(body: bytes, _: SandboxUrls) -> bytes:
    return body.replace(b"<head>", b'<head><meta name="argus-csp-token" content="dG9rZW4">', 1)


def _with_scripts_elsewhere(body: bytes, addresses: SandboxUrls) -> bytes:
    scripts = addresses.on(PAGE_SCRIPTS, "/").encode()
    styles = addresses.on(PAGE_STYLES, "/static/page.css").encode()
    linked = b'<head><link rel="stylesheet" href="' + styles + b'">'
    return body.replace(b'src="/', b'src="' + scripts).replace(b"<head>", linked, 1)


def _unended(body: bytes, _: SandboxUrls) -> bytes:
    return body.removesuffix(b"0\r\n\r\n")


def _cut(body: bytes, addresses: SandboxUrls) -> bytes:
    return _unended(body, addresses)[:-40]


def _glued(body: bytes, _: SandboxUrls) -> bytes:
    return b"".join(map(_dumped, read_frames(body)))


def _in_lines(body: bytes, _: SandboxUrls) -> bytes:
    return b"".join(_dumped(document) + b"\n" for document in read_frames(body))


_FORMS: dict[str, Callable[[bytes, SandboxUrls], bytes]] = {
    "argus_csp_token": _with_token, "page_scripts_elsewhere": _with_scripts_elsewhere,
    "search_stream_unended": _unended, "search_stream_cut": _cut, "search_stream_glued": _glued,
    "search_stream_lines": _in_lines,
}  # fmt: skip


def _restructured(surface: str, body: bytes) -> bytes:
    """Rename keys."""
    if surface == "search_stream":
        texts = [_renamed(surface, _dumped(one)) for one in read_frames(body)]
        return to_frames(json.loads(text) for text in texts)
    return _renamed(surface, body)


def _renamed(surface: str, body: bytes) -> bytes:
    for old, new in (*_EVERYWHERE, *_ON_SURFACE.get(surface, ())):
        body = body.replace(old, new)
        body = body.replace(quote(old, safe="").encode(), quote(new, safe="").encode())
    return body


def _tagged(surface: str, body: bytes) -> bytes:
    del surface
    return b"<!--KG_TAG_RES_START-->" + body + b"<!--KG_TAG_RES_END-->"


def _overseas(surface: str, body: bytes) -> bytes:
    del surface
    return body.replace(b'"is_oversea":0', b'"is_oversea":1').replace(
        b"%22is_oversea%22%3A0", b"%22is_oversea%22%3A1"
    )


_ON_BODIES: dict[str, Callable[[str, bytes], bytes]] = {
    "structure": _restructured, "res_tag": _tagged, "overseas": _overseas,
}  # fmt: skip


def _emptied(documents: Documents, **fields: object) -> Documents:
    """Return the last document with empty lists."""
    last = {key: [] if isinstance(value, list) else value for key, value in documents[-1].items()}
    return [{**last, **fields}]


def _verify_check(documents: Documents, _: Query) -> Documents:
    return _emptied(documents, has_more=0, search_nil_info=nil_info("verify_check", is_first=True))


def _verify_then_healthy(documents: Documents, query: Query) -> Documents:
    return [*_verify_check(documents, query), *documents]


def _login(_: Documents, __: Query) -> Documents:
    return [login_wall()]


def _status_code_8(_: Documents, __: Query) -> Documents:
    return [{"status_code": 8, "status_msg": "用户未登录"}]


def _captcha_json(_: Documents, __: Query) -> Documents:
    demand = {"subtype": "slide", "verify_event": "", "fp": "verify_0"}
    return [{"code": "10000", "from": "", "type": "verify", "version": "2", **demand}]


def _too_often(_: Documents, __: Query) -> Documents:
    return [{"code": "10001010A", "msg": "访问过于频繁，请稍后重试"}]


def _nil_of(kind: str) -> Callable[[Documents, Query], Documents]:
    """Return the state of a search that is empty for a reason of its own."""
    return lambda documents, _: _emptied(
        documents, has_more=0, search_nil_info=nil_info(kind, is_first=True)
    )


def _nil(documents: Documents, _: Query) -> Documents:
    return _emptied(documents, has_more=0, search_nil_info=nil_info("no_result", is_first=True))


def _empty_ambiguous(documents: Documents, _: Query) -> Documents:
    return _emptied(documents, has_more=0)


def _empty_but_more(documents: Documents, _: Query) -> Documents:
    return _emptied(documents, has_more=1)


def _stalled(documents: Documents, query: Query) -> Documents:
    """Announce more pages under the requested cursor."""
    asked = _asked_cursor(query)
    return [
        {**one, **{key: asked for key in CURSORS if key in one}, "has_more": 1} for one in documents
    ]


def _nothing_new(documents: Documents, query: Query) -> Documents:
    """Repeat the first page (requested by the gateway) under an advancing cursor."""
    following = _asked_cursor(query) + 10
    return [
        {**one, **{key: following for key in CURSORS if key in one}, "has_more": 1}
        for one in documents
    ]


def _cold_edge(documents: Documents, _: Query) -> Documents:
    document = documents[-1]
    for outer, inner in (("data", "info"), ("songs", "list")):
        held = document.get(outer)
        if isinstance(held, dict):
            return [{**document, outer: {**held, inner: []}}]
    raise StateNotApplicableError("only the chart has cold edges")


def _timestamp_only(documents: Documents, _: Query) -> Documents:
    return [{**documents[-1], "data": {"timestamp": 1_759_300_000}}]


def _chart_status(documents: Documents, _: Query) -> Documents:
    return [{**documents[-1], "status": 0, "errcode": 20028, "error": "busy", "data": {}}]


def _chart_errcode(documents: Documents, _: Query) -> Documents:
    return [{**documents[-1], "errcode": 30001, "error": "param"}]


def _chart_1002(documents: Documents, _: Query) -> Documents:
    del documents
    return [{"status": 0, "errcode": 1002, "error": "操作太频繁", "data": {}}]


def _empty_detail(documents: Documents, _: Query) -> Documents:
    """Return neither the video nor a reason."""
    last = dict(documents[-1])
    held = [key for key in ("aweme_detail", "aweme_details") if key in last]
    if not held:
        raise StateNotApplicableError("empty_detail applies to details only")
    last.update(dict.fromkeys(held), filter_list=[])
    last.pop("filter_detail", None)
    return [last]


_ON_DOCUMENTS: dict[str, Callable[[Documents, Query], Documents]] = {
    "verify_check": _verify_check, "verify_then_healthy": _verify_then_healthy,
    "login_2483": _login, "nil": _nil, "empty_ambiguous": _empty_ambiguous,
    "empty_but_more": _empty_but_more, "stalled_cursor": _stalled, "no_new_items": _nothing_new,
    "cold_edge": _cold_edge, "timestamp_only": _timestamp_only, "chart_status": _chart_status,
    "chart_errcode": _chart_errcode, "chart_1002": _chart_1002, "empty_detail": _empty_detail,
    "status_code_8": _status_code_8, "captcha_json": _captcha_json, "code_10001010A": _too_often,
    **{kind: _nil_of(kind)
       for kind in ("hit_shark", "antispam_check", "params_check", "invalid_app")},
}  # fmt: skip


def _asked_cursor(query: Query) -> int:
    text = next((query[key] for key in CURSORS if query.get(key, "").isdigit()), "0")
    return int(text)


def _dumped(document: Document) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
