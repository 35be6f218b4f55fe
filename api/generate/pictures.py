"""Draws the diagrams of `docs/architecture.md`: packages with their layers, and the assets of a
scan.

The layers come from the import contracts in `pyproject.toml`, the scan from Dagster's asset graph.
"""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from textwrap import wrap

FONT = 'font-family="Helvetica, Arial, sans-serif"'
BOX, GAP, MARGIN = 150, 12, 20
_INK, _PAPER = "#1f2933", "#ffffff"
_FILLS: Mapping[str, str] = {"api": "#dbeafe", "pipelines": "#dcfce7", "warehouse": "#fef3c7"}


def draw_packages(root: Path) -> str:
    """Return an SVG of the three packages; imports point down only."""
    parts: list[str] = []
    top = MARGIN
    for package in ("api", "pipelines", "warehouse"):
        layers = read_layers(root, package)
        parts += [
            (
                f'<rect x="{MARGIN}" y="{top}" width="{_WIDTH}" '
                f'height="{_HEAD + len(layers) * _ROW}" '
                f'rx="10" fill="{_FILLS[package]}" stroke="{_INK}"/>'
            ),
            _text(MARGIN + GAP, top + 26, package, size=17, weight="bold"),
        ]
        for row, layer in enumerate(layers):
            width = (_WIDTH - GAP) // len(layer) - GAP
            for column, name in enumerate(layer):
                x = MARGIN + GAP + column * (width + GAP)
                parts += _module(root / package / name, x, top + _HEAD + row * _ROW - GAP, width)
        top += _HEAD + len(layers) * _ROW + 2 * GAP
    title = "The packages and their layers. Imports point down only."
    return _svg(_WIDTH + 2 * MARGIN, top, "\n".join(parts), title)


def draw_graph(edges: Mapping[str, Iterable[str]], title: str) -> str:
    """Return an SVG of a directed graph, sources on the left.

    Args:
        edges: Each node with the nodes that it depends on. Implied edges are not drawn.
        title: Description of the diagram for screen readers.
    """
    depth = _depths(edges)
    columns: dict[int, list[str]] = {}
    for node in edges:
        columns.setdefault(depth[node], []).append(node)
    place = {
        node: (MARGIN + column * (BOX + 60), MARGIN + row * 64)
        for column, nodes in columns.items()
        for row, node in enumerate(nodes)
    }
    lines = [
        _arrow(place[source], place[node])
        for node, sources in edges.items()
        for source in sources
        if source in place and not _is_implied(edges, source, sources)
    ]
    boxes = [part for node, (x, y) in place.items() for part in _node(node, x, y)]
    width = max(x for x, _ in place.values()) + BOX + MARGIN
    height = max(y for _, y in place.values()) + 44 + MARGIN
    return _svg(width, height, "\n".join([_ARROWHEAD, *lines, *boxes]), title)


def read_layers(root: Path, package: str) -> list[list[str]]:
    """Return the layers of a package, highest first, as checked by `make arch`."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    contracts: Sequence[Mapping[str, list[str]]] = project["tool"]["importlinter"]["contracts"]
    found = next(one for one in contracts if one.get("containers") == [package])
    return [[name.strip() for name in layer.split("|")] for layer in found["layers"]]


_WIDTH, _HEAD, _ROW, _LAYER = 820, 52, 46, 38
_ARROWHEAD = (
    '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" '
    f'orient="auto"><path d="M0 0L8 4L0 8z" fill="{_INK}"/></marker></defs>'
)


def _depths(edges: Mapping[str, Iterable[str]]) -> dict[str, int]:
    depth: dict[str, int] = {}

    def find(node: str) -> int:
        if node not in depth:
            depth[node] = 1 + max((find(one) for one in edges[node] if one in edges), default=-1)
        return depth[node]

    for node in edges:
        find(node)
    return depth


def _is_implied(edges: Mapping[str, Iterable[str]], source: str, siblings: Iterable[str]) -> bool:
    """Return whether another dependency already depends on `source`, which makes its arrow
    redundant.
    """
    return any(
        source in edges.get(one, ()) or _is_implied(edges, source, edges.get(one, ()))
        for one in siblings
        if one != source
    )


def _module(path: Path, x: int, y: int, width: int) -> list[str]:
    """Draw a box with the name of a module or folder and the first sentence of its docstring."""
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    charter = source.read_text(encoding="utf-8").split('"""')[1].replace("\n", " ")
    lines = wrap(charter, width=width * 100 // 560)
    shown = lines[0] + (" …" if len(lines) > 1 else "")
    name = path.name + ("/" if path.is_dir() else ".py")
    return [
        (
            f'<rect x="{x}" y="{y}" width="{width}" height="{_LAYER}" rx="6" fill="{_PAPER}" '
            f'stroke="{_INK}" stroke-width="0.7"/>'
        ),
        _text(x + 10, y + 16, name, size=13, weight="bold"),
        _text(x + 10, y + 31, shown, size=10),
    ]


def _node(name: str, x: int, y: int) -> list[str]:
    return [
        (
            f'<rect x="{x}" y="{y}" width="{BOX}" height="40" rx="6" fill="{_FILLS["pipelines"]}" '
            f'stroke="{_INK}"/>'
        ),
        _text(x + BOX // 2, y + 25, name, size=12, anchor="middle"),
    ]


def _arrow(source: tuple[int, int], target: tuple[int, int]) -> str:
    (x, y), (to_x, to_y) = (source[0] + BOX, source[1] + 20), (target[0], target[1] + 20)
    bend = max(30, (to_x - x) // 2)
    return (
        f'<path d="M{x} {y}C{x + bend} {y} {to_x - bend} {to_y} {to_x} {to_y}" fill="none" '
        f'stroke="{_INK}" marker-end="url(#head)"/>'
    )


def _text(
    x: int, y: int, text: str, *, size: int, weight: str = "normal", anchor: str = "start"
) -> str:
    return (
        f'<text x="{x}" y="{y}" {FONT} font-size="{size}" font-weight="{weight}" '
        f'text-anchor="{anchor}" fill="{_INK}">{escape(text)}</text>'
    )


def _svg(width: int, height: int, body: str, title: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img">\n<title>{escape(title)}</title>\n'
        f'<rect width="{width}" height="{height}" fill="{_PAPER}"/>\n{body}\n</svg>\n'
    )
