"""Build a report: run its notebook, write its tables and its page atomically.

Not here: running a notebook (`notebook_run.py`), the layout of the page (`page.py`).
"""

import hashlib
import re
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from uuid import uuid4

from pipelines.open_stores import open_chosen_home
from pipelines.reports.catalogue import Notebook
from pipelines.reports.notebook_run import ReportProgress, run_notebook
from pipelines.reports.page import render_page
from pipelines.reports.texts import load_texts
from pipelines.settings import Settings
from warehouse.exports.atomic_files import write_atomically
from warehouse.home.folder import Home
from warehouse.lake.as_of import parse_as_of
from warehouse.lake.store import lake_root
from warehouse.records.errors import InvalidParameterError
from warehouse.records.worlds import is_demo_world

if TYPE_CHECKING:
    from nbformat import NotebookNode

_NAME_CHARS = 120
_MARK_CHARS = 8
_UNSAFE = re.compile(r"[^A-Za-z0-9_.=-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRequest:
    """A request for a report.

    Defaults: `as_of` the newest commit, `output` a file in the reports folder of the world.
    """

    report: Notebook
    parameters: Mapping[str, object]
    as_of: str = ""
    output: Path | None = None
    with_pdf: bool = False
    language: str = "en"
    run_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedReport:
    """The files of a report: page, PDF if requested, and tables."""

    page: Path
    pdf: Path | None
    tables: tuple[Path, ...]
    run_id: str
    is_demo: bool


def build_report(
    settings: Settings, asked: ReportRequest, *, progress: ReportProgress
) -> RenderedReport:
    """Run the notebook of a report and write its files.

    Raises:
        ProfileNotChosenError: No platform profile is selected.
        InvalidParameterError: A parameter or the language is invalid, or the files cannot be
            written there.
        ProviderUnsupportedError: A PDF is requested, but Chromium is not installed.
        WarehouseError: The lake cannot be read.
        SametrackError: A cell of the notebook failed.
    """
    texts = load_texts(asked.language)
    home = open_chosen_home(settings)
    if asked.as_of:
        parse_as_of(asked.as_of, now=datetime.now(UTC))  # fail before a kernel starts
    page = asked.output or home.reports_dir / f"{_stem(asked)}.html"
    run_id, pdf = asked.run_id or str(uuid4()), None
    with ExitStack() as stack:
        if asked.with_pdf:
            from pipelines.reports.pdf import open_printer  # noqa: PLC0415 -- the extra `browser`

            printer = stack.enter_context(open_printer(settings.chromium_path))
        executed, tables = _run(settings, asked, home, page, progress=progress)
        made_at = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"
        html = render_page(asked.report, executed, texts, run_id=run_id, made_at=made_at)
        write_atomically(page, [html.encode()])
        if asked.with_pdf:
            progress("printing")
            pdf = printer.write(html, page)
    is_demo = is_demo_world(home.world)
    return RenderedReport(page=page, pdf=pdf, tables=tables, run_id=run_id, is_demo=is_demo)


def _run(
    settings: Settings, asked: ReportRequest, home: Home, page: Path, *, progress: ReportProgress
) -> "tuple[NotebookNode, tuple[Path, ...]]":
    """Run the notebook and write its tables; return it and them."""
    # absolute: the kernel's folder is another
    lake = lake_root(settings.lake_url) if settings.lake_url else ""
    with TemporaryDirectory(prefix="sametrack-report-") as draft:
        places = {"home": str(home.root), "lake": lake, "tables": draft}
        given = dict(asked.parameters) | places
        given |= {"as_of": asked.as_of, "language": asked.language}
        executed = run_notebook(asked.report, given, progress=progress)
        progress("writing")
        return executed, _move_tables(Path(draft), page.with_name(f"{page.stem}-tables"))


def _stem(asked: ReportRequest) -> str:
    """Return a file stem with name, parameters and moment, so that no report overwrites another.

    A long one is cut and ends with a mark of all of it.
    """
    usual = {one.name: one.default for one in asked.report.parameters}
    given = sorted(asked.parameters.items())
    changed = [f"{name}={value}" for name, value in given if value != usual.get(name)]
    if asked.as_of:
        changed.append(f"as_of={asked.as_of}")
    if asked.language != "en":
        changed.append(f"language={asked.language}")
    words = "-".join([asked.report.name, *changed])
    stem = _UNSAFE.sub("_", words)
    if len(stem) <= _NAME_CHARS:
        return stem
    mark = hashlib.sha256(words.encode()).hexdigest()[:_MARK_CHARS]
    return f"{stem[: _NAME_CHARS - _MARK_CHARS - 1]}-{mark}"


def _move_tables(draft: Path, folder: Path) -> tuple[Path, ...]:
    """Move the tables into their folder after deleting those of an earlier run."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("*.csv"):
            old.unlink()
    except OSError as error:
        raise InvalidParameterError(
            f"{folder.name} cannot be written: {error.strerror}",
            hint="choose another file with --output",
        ) from error
    moved = []
    for table in sorted(draft.glob("*.csv")):
        write_atomically(folder / table.name, [table.read_bytes()])
        moved.append(folder / table.name)
    return tuple(moved)
