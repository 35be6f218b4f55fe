"""The screens of the scripted app, as views, and their accessibility tree as a device dumps it.

Pure: what is shown, not how one comes there.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

from sandbox.server.documents.videos import to_shown_count

WIDTH, HEIGHT = 1080, 2400
Box = tuple[int, int, int, int]

_HEAD = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"0\">"
_COLUMNS, _TILE = 3, 360
_GRID_TOP, _ROWS = 700, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One view. `action` is the word for what a tap on it does; empty for nothing."""

    box: Box
    id: str = ""
    kind: str = "android.widget.FrameLayout"
    text: str = ""
    desc: str = ""
    action: str = ""

    def holds(self, x: int, y: int) -> bool:
        """True when a point lies on it."""
        left, top, right, bottom = self.box
        return left <= x < right and top <= y < bottom


def rounded(count: int) -> str:
    """A count as the app writes it; none at all where there is nothing to count."""
    return str(to_shown_count(count, ten_thousands="万")) if count else ""


def home() -> list[View]:
    """What the app shows when it starts."""
    return [
        View(id="main_bottom", box=(0, HEIGHT - 160, WIDTH, HEIGHT)),
        _text("tab_home", "首页", (0, HEIGHT - 160, 270, HEIGHT)),
        _text("tab_me", "我", (810, HEIGHT - 160, WIDTH, HEIGHT)),
    ]


def loading() -> list[View]:
    """A screen that has not come yet."""
    return [
        View(
            id="loading",
            kind="android.widget.ProgressBar",
            desc="加载中",
            box=(490, 1150, 590, 1250),
        ),
    ]


def missing() -> list[View]:
    """What stands for a track that is not there."""
    return [_text("empty_hint", "音乐不存在", (300, 1100, 780, 1200))]


def track(title: str, author: str, likes: list[int], *, uses: int) -> list[View]:
    """The page of a track: its name, and the first of its videos as tiles."""
    tiles = [
        View(
            id="cover",
            kind="android.widget.ImageView",
            desc=f"作品{number + 1}，点赞{rounded(count) or '0'}",
            box=_tile(number),
            action=f"work:{number}",
        )
        for number, count in enumerate(likes[: _COLUMNS * _ROWS])
    ]
    return [
        View(id="music_detail", box=(0, 0, WIDTH, HEIGHT)),
        _text("music_title", title, (40, 220, 1000, 300)),
        _text("music_owner", author, (40, 310, 1000, 370)),
        _text("music_uses", f"{rounded(uses) or '0'}人使用", (40, 390, 600, 450)),
        *tiles,
    ]


def work(nickname: str, caption: str, counts: Iterable[int], *, is_last_again: bool) -> list[View]:
    """One video of a feed. `is_last_again`: a swipe led no further, and a toast says so."""
    digg, comment, collect, share = map(rounded, counts)
    toast = _text("toast", "没有更多了", (340, 1900, 740, 1980))
    return [
        View(id="feed_item", box=(0, 0, WIDTH, HEIGHT), action="pause"),
        _text("title", f"@{nickname}", (40, 1960, 700, 2020), action="author"),
        _text("desc", caption, (40, 2030, 840, 2160)),
        _button(f"未点赞，喜欢{digg}，按钮", (920, 1200, 1060, 1360)),
        _button(f"评论{comment}，按钮", (920, 1380, 1060, 1540)),
        _button(f"未选中，收藏{collect}，按钮", (920, 1560, 1060, 1720)),
        _button(f"分享{share}，按钮", (920, 1740, 1060, 1900), action="share"),
        *([toast] if is_last_again else []),
    ]


def share(nickname: str, caption: str, link: str) -> list[View]:
    """What the share button brings: a text to be passed on."""
    text = f"7.43 复制打开看看【{nickname}的作品】{caption[:16]} {link} :/ w@f"
    return [
        View(id="share_panel", box=(0, 1500, WIDTH, HEIGHT)),
        _text("share_text", text, (40, 1560, 1040, 1700)),
        _button("复制链接，按钮", (40, 1760, 240, 1960), name="share_copy"),
    ]


def account(nickname: str, handle: str) -> list[View]:
    """The page of an account."""
    return [
        View(id="profile", box=(0, 0, WIDTH, HEIGHT)),
        _text("nickname", nickname, (40, 500, 1000, 580)),
        _text("unique_id", f"账号：{handle}", (40, 600, 1000, 660)),
    ]


def prompt(kind: str) -> list[View]:
    """What stands in the way of everything else."""
    if kind == "login":
        return [
            View(id="login_panel", box=(0, 900, WIDTH, HEIGHT)),
            _text("login_title", "登录后查看更多精彩内容", (100, 960, 980, 1060)),
            _button("一键登录，按钮", (100, 1400, 980, 1540), name="login_submit"),
        ]
    if kind == "verification":
        return [
            View(id="captcha_panel", box=(90, 700, 990, 1700)),
            _text("captcha_title", "请完成下列验证后继续", (120, 730, 960, 800)),
        ]
    return [
        _text("dialog_title", "青少年模式", (200, 900, 880, 980)),
        _text("dialog_close", "我知道了", (200, 1300, 880, 1400), action="close_dialog"),
    ]


def _text(name: str, text: str, box: Box, *, action: str = "") -> View:
    return View(id=name, kind="android.widget.TextView", text=text, box=box, action=action)


def _button(desc: str, box: Box, *, name: str = "", action: str = "") -> View:
    return View(id=name, kind="android.widget.LinearLayout", desc=desc, box=box, action=action)


def _tile(number: int) -> tuple[int, int, int, int]:
    row, column = divmod(number, _COLUMNS)
    left, top = column * _TILE, _GRID_TOP + row * _TILE
    return (left, top, left + _TILE, top + _TILE)


def tapped(views: Sequence[View], x: int, y: int) -> str:
    """The action of the topmost view under a point."""
    under = [view.action for view in views if view.action and view.holds(x, y)]
    return under[-1] if under else ""


def to_dump(views: Sequence[View], *, package: str) -> str:
    """The tree: the views inside the frames that every window has."""
    whole = (0, 0, WIDTH, HEIGHT)
    inner = "".join(
        _node(view, number, package, is_open=False) for number, view in enumerate(views)
    )
    frame = View(box=whole)
    content = View(box=whole, id="android:id/content")
    return (
        f"{_HEAD}{_node(frame, 0, package, is_open=True)}"
        f"{_node(content, 0, package, is_open=True)}{inner}</node></node></hierarchy>"
    )


def _node(view: View, index: int, package: str, *, is_open: bool) -> str:
    left, top, right, bottom = view.box
    resource = view.id if not view.id or ":" in view.id else f"{package}:id/{view.id}"
    yes = "true" if view.action else "false"
    return (
        f'<node index="{index}" text={quoteattr(view.text)} resource-id={quoteattr(resource)} '
        f'class="{view.kind}" package="{package}" content-desc={quoteattr(view.desc)} '
        f'checkable="false" checked="false" clickable="{yes}" enabled="true" focusable="{yes}" '
        'focused="false" scrollable="false" long-clickable="false" password="false" '
        f'selected="false" bounds="[{left},{top}][{right},{bottom}]"{"" if is_open else " /"}>'
    )
