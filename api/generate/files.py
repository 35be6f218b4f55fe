"""The derived files and their contents."""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from api.app import build_routes
from api.generate.operation_list import render_operation_list
from api.generate.pictures import draw_graph, draw_packages
from api.generate.reference_tables import render_chinese, render_english, render_overview
from api.openapi.reference import OpenApiDocument
from api.routes.dependencies import Services
from api.server.health import Readiness
from pipelines.documents.messages import FIGURES, figure_heading
from pipelines.documents.palette import render_console_palette

ROOT = Path(__file__).parent.parent.parent


@cache
def read_description() -> OpenApiDocument:
    """Build the API description without opening any store, once in a process."""
    app = build_routes(Services(readiness=Readiness({})))
    return app.openapi()


WHOLE_FILES: Mapping[str, Callable[[OpenApiDocument], str]] = {
    "docs/api.md": render_english,
    "docs/api.zh.md": render_chinese,
    "docs/operations.txt": render_operation_list,
}
OVERVIEW = ("README.md", "<!-- operations -->", "<!-- end of operations -->")
"""A file with one derived part, and the markers around it."""


def derived_files() -> dict[Path, str]:
    """Return every derived file with its expected text."""
    document = read_description()
    texts = {name: render(document) for name, render in WHOLE_FILES.items()}
    # The part of the README between two markers
    name, begin, end = OVERVIEW
    before, _, rest = (ROOT / name).read_text(encoding="utf-8").partition(begin)
    _, _, after = rest.partition(end)
    texts[name] = f"{before}{begin}\n{render_overview(document)}\n{end}{after}"
    # The diagrams
    texts["docs/pictures/packages.svg"] = draw_packages(ROOT)
    texts["api/console/app/messages/figures.js"] = render_console_figures()
    texts["api/console/style/palette.css"] = render_console_palette()
    texts["docs/pictures/scan.svg"] = draw_graph(read_scan_graph(), "The assets of a scan.")
    return {ROOT / name: text for name, text in texts.items()}


def render_console_figures() -> str:
    """Return the messages of the console for the labels of counts."""
    lines = [
        "// Labels of counts. English, then Chinese. Written by `make docs` from FIGURES of",
        "// pipelines/documents/messages.py.",
        'import { addMessages } from "../i18n.js";',
        "",
        "addMessages({",
    ]
    for name in FIGURES:
        heading = figure_heading(name)
        lines.append(f'  "stat.{name}": ["{heading.en}", "{heading.zh}"],')
    return "\n".join([*lines, "});", ""])


def read_scan_graph() -> dict[str, list[str]]:
    """Return each asset of a scan with its dependencies, in topological order."""
    from pipelines.orchestration.assets.decorators import SCAN_GROUPS  # noqa: PLC0415 -- loads Dagster, 1.5 s
    from pipelines.orchestration.definitions import build_definitions  # noqa: PLC0415 -- as above

    graph = build_definitions().resolve_asset_graph()
    nodes = [graph.get(key) for key in graph.toposorted_asset_keys]
    return {
        node.key.path[-1]: sorted(key.path[-1] for key in node.parent_keys)
        for node in nodes
        if node.group_name in SCAN_GROUPS and node.is_materializable
    }
