"""The colours and the fonts of everything that people read: console, reports, shared files, plots.

Declared once. `make docs` writes the console's style sheet from here; style sheets of reports and
plots take them from here, too. Each series differs from every other one for readers who do not see
red, green or blue; on paper, which is light, in brightness as well, hence in grey print. Each has a
contrast of 3:1 with its ground. A test measures all of it.
"""

from collections.abc import Mapping
from typing import Literal

type ThemeName = Literal["light", "dark"]

LIGHT: Mapping[str, str] = {
    "page": "#f5f6f8",
    "card": "#ffffff",
    "sunk": "#eef1f4",
    "ink": "#17212b",
    "soft": "#55616e",
    "line": "#dfe4ea",
    "edge": "#8b97a4",
    "accent": "#0b6670",
    "accent-ink": "#ffffff",
    "accent-wash": "#e2f1f2",
    "accent-line": "#a9d3d6",
    "good": "#17693f",
    "good-wash": "#e2f3e9",
    "warn": "#7d4b00",
    "warn-wash": "#fdf0d8",
    "bad": "#a8221a",
    "bad-wash": "#fcebe9",
    "info": "#2a4f9e",
    "info-wash": "#e8eefb",
    "muted": "#b7c2ce",
    "c1": "#12555c",
    "c2": "#e67530",
    "c3": "#1a1f45",
    "c4": "#6954bc",
    "c5": "#6b1910",
    "c6": "#1886ac",
    "c7": "#36618f",
    "c8": "#a23a3a",
}
DARK: Mapping[str, str] = {
    "page": "#0e1318",
    "card": "#161d24",
    "sunk": "#1f2831",
    "ink": "#e9eef3",
    "soft": "#a3b0bd",
    "line": "#2b3641",
    "edge": "#6c7a88",
    "accent": "#5cc4cb",
    "accent-ink": "#06232a",
    "accent-wash": "#12313a",
    "accent-line": "#1f5660",
    "good": "#65cf98",
    "good-wash": "#12301f",
    "warn": "#f0b95c",
    "warn-wash": "#352709",
    "bad": "#ff9389",
    "bad-wash": "#3c1815",
    "info": "#92b4f8",
    "info-wash": "#17233f",
    "muted": "#4b5966",
    "c1": "#9fe1d3",
    "c2": "#f87e49",
    "c3": "#6880eb",
    "c4": "#e2a4f1",
    "c5": "#a35a66",
    "c6": "#ecf865",
    "c7": "#8fb8e4",
    "c8": "#f29a9a",
}
THEMES: Mapping[ThemeName, Mapping[str, str]] = {"light": LIGHT, "dark": DARK}
SERIES_NAMES = ("c1", "c2", "c3", "c4", "c5", "c6")
"""The series of plots, in this order: neighbours differ most. The console has two more."""
SERIES = tuple(LIGHT[name] for name in SERIES_NAMES)
FONT = (
    '"Noto Sans", -apple-system, "Segoe UI", Roboto, "Noto Sans CJK SC", "PingFang SC", '
    '"Microsoft YaHei", system-ui, sans-serif'
)
MONO_FONT = (
    'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "Noto Sans Mono", '
    '"DejaVu Sans Mono", monospace'
)

# The roles of reports, by the colour of the palette that plays them.
_REPORT_ROLES = {
    "paper": "card", "panel": "sunk", "warm": "warn", "met": "c6", "missed": "c2",
    "exact": "c1", "audio": "c2", "graph": "c4",
}  # fmt: skip


def report_variables() -> str:
    """Return the palette as variables of reports: light on paper, else as the reader prefers."""
    roles = " ".join(f"--{role}: var(--{name});" for role, name in _REPORT_ROLES.items())
    fonts = f"--font: {FONT}; --mono: {MONO_FONT};"
    return (
        f":root {{ color-scheme: light; {_variables(LIGHT)} {fonts} {roles} }}\n"
        "@media screen and (prefers-color-scheme: dark) "
        f"{{ :root {{ color-scheme: dark; {_variables(DARK)} }} }}\n"
    )


def render_console_palette() -> str:
    """Return the console's style sheet with colours and fonts."""
    return (
        "/* Colours and fonts, light and dark. Written by `make docs` from "
        "pipelines/documents/palette.py. */\n"
        f":root {{\n  --font: {FONT};\n  --mono: {MONO_FONT};\n}}\n"
        f':root, [data-theme="light"] {{\n  color-scheme: light;\n{_lines(LIGHT)}}}\n'
        f'[data-theme="dark"] {{\n  color-scheme: dark;\n{_lines(DARK)}}}\n'
    )


def _variables(colours: Mapping[str, str]) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())


def _lines(colours: Mapping[str, str]) -> str:
    return "".join(f"  --{name}: {colour};\n" for name, colour in colours.items())
