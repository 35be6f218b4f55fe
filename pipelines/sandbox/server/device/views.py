"""Views of a screen, and their accessibility tree in the form in which a device dumps it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

WIDTH, HEIGHT = 1080, 2400
Box = tuple[int, int, int, int]

_HEAD = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"0\">"


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
