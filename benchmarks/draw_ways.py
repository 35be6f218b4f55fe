"""Draws the ways of requests through the code, before and after a change.

    python -m benchmarks.ways list > after/list.txt        # and column, watchlist, catalog
    python -m benchmarks.draw_ways before after docs/pictures/ways.svg

A row is one way: a cell for each file in the order in which it is entered, as wide as it has
functions that ran, in the colour of its package.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from textwrap import wrap

TITLES = {
    "list": "A hashtag's list that nobody has read: request, platform, store, answer",
    "column": "A video's detail: from the platform's JSON to what the console shows",
    "watchlist": "watchlist add, and a run of it from its begin to its digest",
    "catalog": "catalog report, in all its forms",
}
FILLS = {"api": "#60a5fa", "pipelines": "#4ade80", "warehouse": "#fbbf24"}
PX_PER_FUNCTION, LEFT, WIDTH = 1.4, 70, 860
_FONT = 'font-family="Helvetica, Arial, sans-serif" fill="#1f2933"'


@dataclass(frozen=True)
class Way:
    """A printed trace.

    Attributes:
        head: Its first line, the three numbers.
        files: Number of functions by file, in the order of entering.
        chain: Files of the deepest calls, outermost first.
    """

    head: str
    files: dict[str, int]
    chain: list[str]


def read_way(path: Path) -> Way:
    """Return the trace that `benchmarks.ways` printed to a file."""
    text = path.read_text(encoding="utf-8")
    head = re.search(r"^\d+ files, \d+ functions, \d+ deep$", text, flags=re.MULTILINE)
    if head is None:
        raise SystemExit(f"{path} is no trace of benchmarks.ways")
    body, _, deepest = text[head.end() :].partition("deepest:")
    files = {
        file: int(functions) if functions.isdigit() else functions.count(",") + 1
        for file, functions in re.findall(r"^  (\S+\.py)  (.+)$", body, flags=re.MULTILINE)
    }
    steps = re.findall(r"^  (\S+\.py):", deepest, flags=re.MULTILINE)
    return Way(head[0], files, list(dict.fromkeys(steps)))


def draw(before: Path, after: Path) -> str:
    """Return an SVG of the ways of two folders with one printed trace each."""
    parts: list[str] = []
    top = 16
    for name, title in TITLES.items():
        parts.append(_text(10, top + 12, title, size=14, weight="bold"))
        top += 22
        for label, folder in (("before", before), ("after", after)):
            way = read_way(folder / f"{name}.txt")
            parts += [_text(10, top + 15, label, size=12), *_cells(way, top)]
            parts.append(_text(LEFT, top + 36, way.head, size=12))
            top += 46
        for line in wrap(" → ".join(way.chain), width=118):
            parts.append(_text(LEFT, top + 4, line, size=10))
            top += 14
        top += 18
    for place, (package, fill) in enumerate(FILLS.items()):
        x = LEFT + place * 110
        parts.append(f'<rect x="{x}" y="{top}" width="12" height="12" fill="{fill}"/>')
        parts.append(_text(x + 17, top + 11, package, size=12))
    height = top + 28
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="img">\n<title>Four ways through the code, before and after'
        f'</title>\n<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _cells(way: Way, top: int) -> Iterator[str]:
    x = float(LEFT)
    for file, count in way.files.items():
        width = count * PX_PER_FUNCTION
        yield (
            f'<rect x="{x:.1f}" y="{top}" width="{width:.1f}" height="20" '
            f'fill="{FILLS[file.split("/")[0]]}" stroke="#ffffff" stroke-width="0.8">'
            f"<title>{escape(file)}: {count}</title></rect>"
        )
        x += width


def _text(x: int, y: int, text: str, *, size: int, weight: str = "normal") -> str:
    return (
        f'<text x="{x}" y="{y}" {_FONT} font-size="{size}" font-weight="{weight}">'
        f"{escape(text)}</text>"
    )


if __name__ == "__main__":
    old, new, target = map(Path, sys.argv[1:])
    target.write_text(draw(old, new), encoding="utf-8")
