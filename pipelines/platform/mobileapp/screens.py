"""Reads what a screen of the app shows: its accessibility tree, by its version's layout. Pure.

Counts are read as the app writes them: "1.2万" is rounded, and the count of a button without a
number is unknown.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree as ET

from pipelines.platform.mobileapp.layouts import Layout, Selector
from pipelines.platform.parsers.fields import ParsedCount, parse_count
from warehouse.records.videos import Statistics

LARGEST_TREE = 8 * 1024 * 1024
_BOUNDS = re.compile(r"\[(-?[0-9]{1,6}),(-?[0-9]{1,6})\]\[(-?[0-9]{1,6}),(-?[0-9]{1,6})\]")


class TreeError(ValueError):
    """The text is no accessibility tree, or half of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One node. `id` is its resource id without the package; bounds are in pixels."""

    id: str
    kind: str
    package: str
    text: str
    desc: str
    left: int
    top: int
    right: int
    bottom: int

    @property
    def centre(self) -> tuple[int, int]:
        """Point to tap, in pixels: x, y."""
        return (self.left + self.right) // 2, (self.top + self.bottom) // 2


def parse_tree(dump: str) -> tuple[Node, ...]:
    """Return the nodes of a dump, parents before their children.

    Raises:
        TreeError: The dump does not hold a whole tree.
    """
    # Declarations could expand to gigabytes; no dump has one.
    if len(dump) > LARGEST_TREE or "<!" in dump[:1024]:
        raise TreeError("too large, or with declarations that no dump has")
    try:
        root = ET.fromstring(dump)  # noqa: S314  # without declarations nothing can be expanded
    except ET.ParseError as exc:
        raise TreeError("not well-formed") from exc
    if root.tag != "hierarchy":
        raise TreeError("the root is something else")
    nodes = []
    for element in root.iter("node"):
        attributes = element.attrib
        match = _BOUNDS.fullmatch(attributes.get("bounds", ""))
        left, top, right, bottom = map(int, match.groups()) if match else (0, 0, 0, 0)
        node = Node(
            id=attributes.get("resource-id", "").rpartition("/")[2],
            kind=attributes.get("class", "").rpartition(".")[2],
            package=attributes.get("package", ""),
            text=attributes.get("text", ""),
            desc=attributes.get("content-desc", ""),
            left=left,
            top=top,
            right=right,
            bottom=bottom,
        )
        nodes.append(node)
    return tuple(nodes)


type Kind = Literal[
    "login", "verification", "dialog", "share", "account", "work", "track", "loading", "other"
]
type Tree = Sequence[Node]

_IDS_LISTED = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackScreen:
    """The page of a track."""

    title: str | None
    author: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoScreen:
    """One video. `is_exact` is False when a count was rounded."""

    nickname: str | None
    caption: str | None
    statistics: Statistics
    is_exact: bool


def find(tree: Tree, selector: Selector) -> Node | None:
    """Return the first node that a selector names."""
    for node in tree:
        if (
            (selector.id is None or selector.id == node.id)
            and (selector.kind is None or selector.kind == node.kind)
            and (selector.text is None or selector.text.fullmatch(node.text) is not None)
            and (selector.desc is None or selector.desc.fullmatch(node.desc) is not None)
        ):
            return node
    return None


def read(tree: Tree, selector: Selector) -> str | None:
    """Return the value of the node that a selector names; None without a node or a value."""
    node = find(tree, selector)
    if node is None:
        return None
    for pattern, text in ((selector.text, node.text), (selector.desc, node.desc)):
        if pattern is not None and "value" in pattern.groupindex:
            match = pattern.fullmatch(text)
            return None if match is None else (match["value"] or "").strip() or None
    return (node.text or node.desc).strip() or None


def kind_of(tree: Tree, layout: Layout) -> Kind:
    """Return which screen it is; a prompt over a screen comes before the screen."""
    prompts = layout.prompts
    # A caption or a nickname may quote any prompt, so the texts of users are never a sign.
    by_users = {layout.work.caption.id, layout.work.author.id} - {None}
    tree = [node for node in tree if not node.id or node.id not in by_users]
    signs: tuple[tuple[Kind, tuple[Selector, ...]], ...] = (
        ("login", prompts.login),
        ("verification", prompts.verification),
        ("dialog", prompts.dialog),
        ("share", (layout.share.sign,)),
        ("account", (layout.account.sign,) if layout.account else ()),
        ("work", (layout.work.sign,)),
        ("track", (layout.track.sign,)),
        ("loading", prompts.loading),
    )
    for kind, selectors in signs:
        if any(find(tree, selector) is not None for selector in selectors):
            return kind
    return "other"


def read_track(tree: Tree, layout: Layout) -> TrackScreen:
    """Read the page of a track."""
    return TrackScreen(title=read(tree, layout.track.title), author=read(tree, layout.track.author))


def read_video(tree: Tree, layout: Layout) -> VideoScreen:
    """Read one video of a feed."""
    video = layout.work
    selectors = {
        "digg_count": video.digg,
        "comment_count": video.comment,
        "collect_count": video.collect,
        "share_count": video.share,
    }
    counts: dict[str, ParsedCount] = {}
    for name, selector in selectors.items():
        count = parse_count(read(tree, selector) or "")
        if count is not None:
            counts[name] = count
    return VideoScreen(
        nickname=read(tree, video.author),
        caption=read(tree, video.caption),
        statistics=Statistics(**{name: count.value for name, count in counts.items()}),
        is_exact=all(count.is_exact for count in counts.values()),
    )


def list_ids(tree: Tree) -> str:
    """Return the first ids of an unknown screen, so that an operator can add its layout."""
    ids = dict.fromkeys(node.id for node in tree if node.id)
    return ", ".join(list(ids)[:_IDS_LISTED]) or "no ids"
