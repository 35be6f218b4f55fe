"""Build a report: run its notebook, write its tables and its page atomically.

Not here: running a notebook (`notebook_run.py`), the layout of the page (`page.py`).
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from pipelines.platform.providers import choose_profile
from pipelines.reports.catalogue import Notebook
from pipelines.reports.notebook_run import ReportProgress, run_notebook
from pipelines.reports.page import RenderStamp, render_page
from pipelines.reports.texts import ReportTexts, load_texts
from pipelines.settings import Settings
from warehouse.exports.atomic_files import write_atomically
from warehouse.home.folder import Home, open_home
from warehouse.lake.as_of import parse_as_of
from warehouse.lake.store import lake_root
from warehouse.records.errors import InvalidParameterError
from warehouse.records.worlds import is_demo_world

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
    home = open_home(settings.data_home, choose_profile(settings).name)
    if asked.as_of:
        parse_as_of(asked.as_of, now=datetime.now(UTC))  # fail before a kernel starts
    page = asked.output or home.reports_dir / f"{_stem(asked)}.html"
    if not asked.with_pdf:
        return _build(settings, asked, page, home, texts, progress=progress)[0]
    from pipelines.reports.pdf import open_printer  # noqa: PLC0415 -- the extra `browser`

    with open_printer(settings.chromium_path) as printer:
        report, html = _build(settings, asked, page, home, texts, progress=progress)
        progress("printing")
        return replace(report, pdf=printer.write(html, page))


def _build(
    settings: Settings,
    asked: ReportRequest,
    page: Path,
    home: Home,
    texts: ReportTexts,
    *,
    progress: ReportProgress,
) -> tuple[RenderedReport, str]:
    """Run the notebook and write its tables and its page; return them and the page's HTML."""
    run_id = asked.run_id or str(uuid4())
    lake = (
        lake_root(settings.lake_url) if settings.lake_url else ""
    )  # the kernel's folder is another
    with TemporaryDirectory(prefix="sametrack-report-") as draft:
        places = {"home": str(home.root), "lake": lake, "tables": draft}
        given = dict(asked.parameters) | places
        given |= {"as_of": asked.as_of, "language": asked.language}
        executed = run_notebook(asked.report, given, progress=progress)
        progress("writing")
        tables = _move_tables(Path(draft), page.with_name(f"{page.stem}-tables"))
    making = RenderStamp(
        run_id=run_id,
        made_at=f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC",
    )
    html = render_page(asked.report, executed, making, texts)
    write_atomically(page, [html.encode()])
    is_demo = is_demo_world(home.world)
    return RenderedReport(page=page, pdf=None, tables=tables, run_id=run_id, is_demo=is_demo), html


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
