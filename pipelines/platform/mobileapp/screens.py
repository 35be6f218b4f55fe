"""What a screen of the app shows: its accessibility tree, read with its version's layout. Pure.

Counts are read as the app writes them: "1.2万" is rounded, and a button without a number says
nothing about how many there are.
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
    """It is no accessibility tree, or half of one."""


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
        """Where to tap it."""
        return (self.left + self.right) // 2, (self.top + self.bottom) // 2


def parse_tree(dump: str) -> tuple[Node, ...]:
    """The nodes of a dump, parents before their children.

    Raises:
        TreeError: It does not hold a whole tree.
    """
    if len(dump) > LARGEST_TREE or "<!" in dump[:1024]:
        raise TreeError("too large, or with declarations that no dump has")
    try:
        root = ET.fromstring(dump)  # noqa: S314  # without declarations nothing can be expanded
    except ET.ParseError as exc:
        raise TreeError("not well-formed") from exc
    if root.tag != "hierarchy":
        raise TreeError("the root is something else")
    return tuple(_node(element) for element in root.iter("node"))


def _node(element: ET.Element) -> Node:
    said = element.attrib
    found = _BOUNDS.fullmatch(said.get("bounds", ""))
    left, top, right, bottom = map(int, found.groups()) if found else (0, 0, 0, 0)
    return Node(
        id=said.get("resource-id", "").rpartition("/")[2],
        kind=said.get("class", "").rpartition(".")[2],
        package=said.get("package", ""),
        text=said.get("text", ""),
        desc=said.get("content-desc", ""),
        left=left,
        top=top,
        right=right,
        bottom=bottom,
    )


type Kind = Literal[
    "login", "verification", "dialog", "share", "account", "work", "track", "loading", "other"
]
type Tree = Sequence[Node]

_SEEN_IDS = 12  # ids reported of an unknown screen


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackShown:
    """The page of a track."""

    title: str | None
    author: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkShown:
    """One video. `is_exact` is False when a count was rounded."""

    nickname: str | None
    caption: str | None
    statistics: Statistics
    is_exact: bool


def find(tree: Tree, selector: Selector) -> Node | None:
    """The first node that a selector names."""
    return next((node for node in tree if _fits(node, selector)), None)


def read(tree: Tree, selector: Selector) -> str | None:
    """The value of the node that a selector names; None where there is none, or it is empty."""
    node = find(tree, selector)
    if node is None:
        return None
    for pattern, said in ((selector.text, node.text), (selector.desc, node.desc)):
        if pattern is not None and "value" in pattern.groupindex:
            found = pattern.fullmatch(said)
            return None if found is None else (found["value"] or "").strip() or None
    return (node.text or node.desc).strip() or None


def kind_of(tree: Tree, layout: Layout) -> Kind:
    """Which screen it is. What stands in the way comes first. User text is never used as a sign."""
    asked = layout.prompts
    tree = [node for node in tree if not _is_said_by_people(node, layout)]
    in_the_way: tuple[tuple[Kind, tuple[Selector, ...]], ...] = (
        ("login", asked.login),
        ("verification", asked.verification),
        ("dialog", asked.dialog),
        ("share", (layout.share.sign,)),
        ("account", (layout.account.sign,) if layout.account else ()),
        ("work", (layout.work.sign,)),
        ("track", (layout.track.sign,)),
        ("loading", asked.loading),
    )
    for kind, selectors in in_the_way:
        if any(find(tree, selector) is not None for selector in selectors):
            return kind
    return "other"


def is_at_end(tree: Tree, layout: Layout) -> bool:
    """True when the feed says that there is no further video."""
    return any(find(tree, selector) is not None for selector in layout.prompts.end)


def read_track(tree: Tree, layout: Layout) -> TrackShown:
    """The page of a track."""
    return TrackShown(title=read(tree, layout.track.title), author=read(tree, layout.track.author))


def read_work(tree: Tree, layout: Layout) -> WorkShown:
    """One video of a feed."""
    at = layout.work
    counts: dict[str, ParsedCount | None] = {
        "digg_count": _count(tree, at.digg),
        "comment_count": _count(tree, at.comment),
        "collect_count": _count(tree, at.collect),
        "share_count": _count(tree, at.share),
    }
    known = {name: count for name, count in counts.items() if count is not None}
    return WorkShown(
        nickname=read(tree, at.author),
        caption=read(tree, at.caption),
        statistics=Statistics(**{name: count.value for name, count in known.items()}),
        is_exact=all(count.is_exact for count in known.values()),
    )


def seen_ids(tree: Tree) -> str:
    """The ids of an unknown screen, so that an operator can add its layout."""
    ids = dict.fromkeys(node.id for node in tree if node.id)
    return ", ".join(list(ids)[:_SEEN_IDS]) or "no ids"


def _count(tree: Tree, selector: Selector) -> ParsedCount | None:
    said = read(tree, selector)
    return None if said is None else parse_count(said)


def _is_said_by_people(node: Node, layout: Layout) -> bool:
    return bool(node.id) and node.id in {layout.work.caption.id, layout.work.author.id}


def _fits(node: Node, selector: Selector) -> bool:
    return (
        (selector.id is None or selector.id == node.id)
        and (selector.kind is None or selector.kind == node.kind)
        and (selector.text is None or selector.text.fullmatch(node.text) is not None)
        and (selector.desc is None or selector.desc.fullmatch(node.desc) is not None)
    )
