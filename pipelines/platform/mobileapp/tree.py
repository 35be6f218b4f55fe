"""An accessibility tree as the device dumps it, to nodes in their order. Pure."""

import re
from dataclasses import dataclass
from xml.etree import ElementTree as ET

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
