"""The colours of all reports, declared once: for style sheets as variables, for plots as values.

Chosen so that each series differs from every other one in brightness, hence in grey print too, and
for readers who do not see red, green or blue. A test measures both.
"""

INK = "#17212c"
SOFT = "#55606c"
LINE = "#d3dae1"
PANEL = "#f3f5f8"
PAPER = "#ffffff"
NAVY, RUST, BLUE, ORANGE, SKY, YELLOW = (
    "#0a2546", "#8a3a1f", "#2a6fb0", "#d4722e", "#6ab0c8", "#f0c850",
)  # fmt: skip
SERIES = (NAVY, ORANGE, BLUE, YELLOW, RUST, SKY)
"""One per series, in this order: neighbours differ most."""
MUTED = "#b7c2ce"
"""Bars beside those that the message of a chart is about."""

_ROLES = {
    "ink": INK, "soft": SOFT, "line": LINE, "panel": PANEL, "paper": PAPER, "accent": NAVY,
    "warm": RUST, "muted": MUTED, "met": BLUE, "missed": ORANGE,
    "exact": NAVY, "audio": ORANGE, "graph": BLUE,
}  # fmt: skip


def css_variables() -> str:
    """Return the colours as variables of a style sheet."""
    return f":root {{ {' '.join(f'--{role}: {colour};' for role, colour in _ROLES.items())} }}\n"
