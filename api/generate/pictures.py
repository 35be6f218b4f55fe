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
                # A box with the name of a module or folder, and how its docstring begins
                x, y = MARGIN + GAP + column * (width + GAP), top + _HEAD + row * _ROW - GAP
                path = root / package / name
                source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
                charter = source.read_text(encoding="utf-8").split('"""')[1].replace("\n", " ")
                lines = wrap(charter, width=width * 100 // 560)
                label = lines[0] + (" …" if len(lines) > 1 else "")
                parts += [
                    (
                        f'<rect x="{x}" y="{y}" width="{width}" height="{_LAYER}" rx="6" '
                        f'fill="{_PAPER}" stroke="{_INK}" stroke-width="0.7"/>'
                    ),
                    _text(
                        x + 10,
                        y + 16,
                        path.name + ("/" if path.is_dir() else ".py"),
                        size=13,
                        weight="bold",
                    ),
                    _text(x + 10, y + 31, label, size=10),
                ]
        top += _HEAD + len(layers) * _ROW + 2 * GAP
    title = "The packages and their layers. Imports point down only."
    return _svg(_WIDTH + 2 * MARGIN, top, "\n".join(parts), title)


def draw_graph(edges: Mapping[str, Iterable[str]], title: str) -> str:
    """Return an SVG of a directed graph, sources on the left.

    Args:
        edges: Each node with the nodes that it depends on. Implied edges are not drawn.
        title: Description of the diagram for screen readers.
    """
    # A node stands one column to the right of the last node that it depends on.
    depths: dict[str, int] = {}

    def depth(node: str) -> int:
        if node not in depths:
            sources = [source for source in edges[node] if source in edges]
            depths[node] = 1 + max(map(depth, sources), default=-1)
        return depths[node]

    columns: dict[int, list[str]] = {}
    for node in edges:
        columns.setdefault(depth(node), []).append(node)
    # Positions of the nodes: their left upper corners
    place = {
        node: (MARGIN + column * (BOX + 60), MARGIN + row * 64)
        for column, nodes in columns.items()
        for row, node in enumerate(nodes)
    }
    arrows, boxes = [], []
    for node, (x, y) in place.items():
        boxes += [
            (
                f'<rect x="{x}" y="{y}" width="{BOX}" height="40" rx="6" '
                f'fill="{_FILLS["pipelines"]}" stroke="{_INK}"/>'
            ),
            _text(x + BOX // 2, y + 25, node, size=12, anchor="middle"),
        ]
        for source in edges[node]:
            if source not in place or _is_implied(edges, source, edges[node]):
                continue
            begin_x, begin_y = place[source][0] + BOX, place[source][1] + 20
            end_x, end_y = x, y + 20
            bend = max(30, (end_x - begin_x) // 2)
            arrows.append(
                f'<path d="M{begin_x} {begin_y}C{begin_x + bend} {begin_y} {end_x - bend} {end_y} '
                f'{end_x} {end_y}" fill="none" stroke="{_INK}" marker-end="url(#head)"/>'
            )
    width = max(x for x, _ in place.values()) + BOX + MARGIN
    height = max(y for _, y in place.values()) + 44 + MARGIN
    return _svg(width, height, "\n".join([_ARROWHEAD, *arrows, *boxes]), title)


def read_layers(root: Path, package: str) -> list[list[str]]:
    """Return the layers of a package, highest first, as checked by `make arch`."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    contracts: Sequence[Mapping[str, list[str]]] = project["tool"]["importlinter"]["contracts"]
    contract = next(item for item in contracts if item.get("containers") == [package])
    return [[name.strip() for name in layer.split("|")] for layer in contract["layers"]]


_WIDTH, _HEAD, _ROW, _LAYER = 820, 52, 46, 38
_ARROWHEAD = (
    '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" '
    f'orient="auto"><path d="M0 0L8 4L0 8z" fill="{_INK}"/></marker></defs>'
)


def _is_implied(edges: Mapping[str, Iterable[str]], source: str, siblings: Iterable[str]) -> bool:
    """Return True if another dependency depends on `source`, so that its arrow is redundant."""
    return any(
        source in edges.get(sibling, ()) or _is_implied(edges, source, edges.get(sibling, ()))
        for sibling in siblings
        if sibling != source
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
