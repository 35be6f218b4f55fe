"""Which files are derived from the API description, and what stands in them."""

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from api.app import build_routes
from api.documenting.shapes import render_own_shapes, render_shapes
from api.documenting.tables import render_chinese, render_english, render_overview
from api.documenting.twins import TWINS, render_twin
from api.feed import JobFeed
from api.health import Readiness

ROOT = Path(__file__).parent.parent.parent


def read_description() -> dict[str, Any]:
    """The API description, without opening any store."""
    app = build_routes(desk=None, readiness=Readiness({}), feed=JobFeed(limit=0))
    return app.openapi()


WHOLE_FILES: Mapping[str, Callable[[dict[str, Any]], str]] = {
    "api/client/shapes.py": render_shapes,
    "api/client/own_shapes.py": render_own_shapes,
    "docs/api.md": render_english,
    "docs/api.zh.md": render_chinese,
}
OVERVIEW = ("README.md", "<!-- operations -->", "<!-- end of operations -->")
"""A file of which one part is derived, and the marks around that part."""


def derived_files(root: Path = ROOT) -> dict[Path, str]:
    """Every derived file with the text that it should have."""
    document = read_description()
    whole = {name: render(document) for name, render in WHOLE_FILES.items()}
    twins = {f"api/client/{name}": _formatted(render_twin(name)) for name in TWINS}
    return {
        root / name: text for name, text in {**whole, **twins, **_overview(root, document)}.items()
    }


def _overview(root: Path, document: dict[str, Any]) -> dict[str, str]:
    name, begin, end = OVERVIEW
    text = (root / name).read_text(encoding="utf-8")
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    return {name: f"{before}{begin}\n{render_overview(document)}\n{end}{after}"}


def _formatted(text: str) -> str:
    """As the formatter leaves it: shorter names make shorter lines."""
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", "made.py", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True, cwd=ROOT)  # noqa: S603 -- our own formatter
    return done.stdout
