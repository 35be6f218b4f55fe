"""Render a digest as one HTML file with inline style, without scripts or network requests.

Jinja escapes every text, and the page's content security policy blocks every request. The texts
are in the template.
"""

import base64
import hashlib
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from warehouse.records.values import ReadOnlyDocument

FIGURES = {
    "confirmed_count": ("confirmed videos", "已确认作品"),
    "music_id_count": ("music ids with this recording", "使用同一录音的音乐 ID"),
    "unique_account_count": ("accounts (at least)", "账号数 (至少)"),
    "hot_score_sum": ("total hot score", "作品总热度"),
    "follower_count": ("followers", "粉丝"),
    "total_favorited": ("likes received", "获赞总数"),
    "aweme_count": ("videos", "作品"),
    "view_count": ("views", "播放"),
    "user_count": ("users", "参与人数"),
    "digg_count": ("likes", "点赞"),
    "comment_count": ("comments", "评论"),
    "collect_count": ("collects", "收藏"),
    "share_count": ("shares", "分享"),
    "hot_score": ("hot score", "热度"),
}
"""Labels of the figures in English and Chinese."""

_HIDDEN = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")


def render_digest(digest: ReadOnlyDocument) -> str:
    """Render the page of a digest document that `build_digest` made."""
    style = _style()
    return _environment().get_template("digest.html.j2").render(
        digest=digest,
        figures=FIGURES,
        style=Markup(style),  # noqa: S704 -- a file of this package
        style_hash=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
    )  # fmt: skip


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("pipelines.watchlists", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": _number, "signed": _signed, "plain": _plain, "when": _when}
    return environment


@cache
def _style() -> str:
    return _environment().get_template("digest.css").render()


def _number(value: float | None) -> str:
    return "—" if value is None else f"{value:,.0f}"


def _signed(value: float | None) -> str:
    return "—" if value is None else f"{value:+,.0f}"


def _when(value: str | None) -> str:
    return "—" if value is None else f"{value[:10]} {value[11:16]} UTC"


def _plain(text: object) -> str:
    """Return one line without control characters or bidirectional marks."""
    return "".join(
        sign if sign.isprintable() and sign not in _HIDDEN else " " for sign in str(text)
    )
