"""The digest as a page: one file with its style inside, no script, nothing from a network.

jinja2 escapes every text; the page's policy refuses every request. Words stand in the template.
"""

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

FIGURES = {
    "confirmed_count": ("confirmed works", "已确认作品"),
    "music_id_count": ("music ids that carry it", "承载该录音的音乐 ID"),
    "unique_account_count": ("accounts, at least", "账号数 (下限)"),
    "hot_score_sum": ("hot score of all works", "全部作品热度"),
    "follower_count": ("followers", "粉丝"),
    "total_favorited": ("likes of all works", "获赞总数"),
    "aweme_count": ("works", "作品"),
    "view_count": ("views", "播放"),
    "user_count": ("users", "参与人数"),
    "digg_count": ("likes", "点赞"),
    "comment_count": ("comments", "评论"),
    "collect_count": ("collects", "收藏"),
    "share_count": ("shares", "分享"),
    "hot_score": ("hot score", "热度"),
}
"""What the counts are called, in both languages."""

_HIDDEN = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")


def render_digest(digest: Mapping[str, Any]) -> str:
    """The page of a digest document.

    Args:
        digest: As `build_digest` makes it.
    """
    style = _style()
    return _environment().get_template("digest.html.j2").render(
        digest=digest,
        figures=FIGURES,
        style=Markup(style),  # noqa: S704 -- our own file
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
    """One line without control or direction-changing characters."""
    return "".join(
        sign if sign.isprintable() and sign not in _HIDDEN else " " for sign in str(text)
    )
