"""Build a report: run its notebook in a kernel, write its tables and its page atomically.

The kernel is a child process reached through sockets in a private folder, not through ports. Not
here: the layout of the page (`page.py`).
"""

import hashlib
import os
import re
import subprocess
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import override
from uuid import uuid4

import nbformat
import papermill
from jupyter_client.manager import AsyncKernelManager
from nbclient.exceptions import CellTimeoutError, DeadKernelError

from pipelines.open_stores import open_chosen_home
from pipelines.reports.catalogue import NOTEBOOKS, Notebook
from pipelines.reports.page import render_page
from pipelines.reports.texts import load_texts
from pipelines.settings import Settings
from warehouse.exports.atomic_files import write_atomically
from warehouse.home import is_demo_world
from warehouse.lake.reading import parse_as_of
from warehouse.lake.store import lake_root
from warehouse.records import errors

START_S = 60
CELL_S = 300
"""Timeout of a cell; normal cells take less than a second."""
_KERNEL = "python3"
# Project errors that are passed on as they are; their only argument is a text.
_USER_ERRORS = (errors.InputError, errors.WarehouseError)
_MAX_NAME_CHARS = 120
_DIGEST_CHARS = 8
_UNSAFE = re.compile(r"[^A-Za-z0-9_.=-]+")

type ReportProgress = Callable[[str], None]


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
    settings: Settings, request: ReportRequest, *, progress: ReportProgress
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
    texts = load_texts(request.language)
    home = open_chosen_home(settings)
    # Fail before a kernel starts.
    if request.as_of:
        parse_as_of(request.as_of, now=datetime.now(UTC))
    page = request.output or home.reports_dir / f"{_file_stem(request)}.html"
    run_id, pdf = request.run_id or str(uuid4()), None
    with ExitStack() as stack:
        # Chromium starts in the background while the notebook runs.
        if request.with_pdf:
            from pipelines.reports.pdf import open_printer  # noqa: PLC0415 -- the extra `browser`

            printer = stack.enter_context(open_printer(settings.chromium_path))
        drafts = stack.enter_context(TemporaryDirectory(prefix="sametrack-report-"))
        parameters = dict(request.parameters) | {
            "home": str(home.root),
            # Absolute, because the kernel runs in another folder.
            "lake": lake_root(settings.lake_url) if settings.lake_url else "",
            "tables": drafts,
            "as_of": request.as_of,
            "language": request.language,
        }
        executed = run_notebook(request.report, parameters, progress=progress)
        progress("writing")
        tables = _move_tables(Path(drafts), page.with_name(f"{page.stem}-tables"))
        made_at = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"
        html = render_page(request.report, executed, texts, run_id=run_id, made_at=made_at)
        write_atomically(page, [html.encode()])
        if request.with_pdf:
            progress("printing")
            pdf = printer.write(html, page)
    is_demo = is_demo_world(home.world)
    return RenderedReport(page=page, pdf=pdf, tables=tables, run_id=run_id, is_demo=is_demo)


def _file_stem(request: ReportRequest) -> str:
    """Return a file stem with name, parameters and time, so that no report overwrites another.

    For example `track-music_id=7342451722773117559-language=zh`. A long stem is cut and ends with a
    digest of all of it.
    """
    defaults = {parameter.name: parameter.default for parameter in request.report.parameters}
    parts = [request.report.name]
    for name, value in sorted(request.parameters.items()):
        if value != defaults.get(name):
            parts.append(f"{name}={value}")
    if request.as_of:
        parts.append(f"as_of={request.as_of}")
    if request.language != "en":
        parts.append(f"language={request.language}")
    text = "-".join(parts)
    stem = _UNSAFE.sub("_", text)
    if len(stem) <= _MAX_NAME_CHARS:
        return stem
    digest = hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_CHARS]
    return f"{stem[: _MAX_NAME_CHARS - _DIGEST_CHARS - 1]}-{digest}"


def _move_tables(drafts: Path, folder: Path) -> tuple[Path, ...]:
    """Move the tables into their folder after deleting those of an earlier run."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("*.csv"):
            old.unlink()
    except OSError as error:
        raise errors.InvalidParameterError(
            f"{folder.name} cannot be written: {error.strerror}",
            hint="choose another file with --output",
        ) from error
    paths = []
    for table in sorted(drafts.glob("*.csv")):
        write_atomically(folder / table.name, [table.read_bytes()])
        paths.append(folder / table.name)
    return tuple(paths)


def run_notebook(
    report: Notebook, parameters: Mapping[str, object], *, progress: ReportProgress
) -> nbformat.NotebookNode:
    """Run a notebook and return the executed copy; the file on disk is not changed.

    Raises:
        InvalidParameterError: The notebook rejects a parameter.
        WarehouseError: The lake cannot be opened or read.
        SametrackError: A cell failed for another reason.
    """
    progress("starting a kernel")
    notebook = nbformat.read(report.path, as_version=4)  # type: ignore[no-untyped-call]  # the library's own
    # papermill looks for the tag of the parameters in each cell.
    for cell in notebook.cells:
        cell.metadata.setdefault("tags", [])
    cells = len(notebook.cells) + 1  # papermill adds one

    def report_cell(*, cell_index: int, **_: object) -> None:
        progress(f"{report.name}: cell {cell_index + 1} of {cells}")

    with TemporaryDirectory(prefix="sametrack-kernel-") as folder:
        try:
            executed: nbformat.NotebookNode = papermill.execute_notebook(
                notebook,
                None,
                parameters=dict(parameters),
                kernel_name=_KERNEL,
                progress_bar=False,
                start_timeout=START_S,
                execution_timeout=CELL_S,
                kernel_manager_class=_private_kernel_class(Path(folder)),
                on_cell_start=report_cell,
                shutdown_kernel="immediate",
            )
        except papermill.PapermillExecutionError as error:
            raise to_report_error(report, error.exec_count, error.ename, error.evalue) from error
        except (DeadKernelError, CellTimeoutError, RuntimeError) as error:
            raise errors.SametrackError(
                f"the kernel of the report {report.name} ended or hung: {type(error).__name__}",
                hint="free some memory, or retry when the machine is less busy",
            ) from error
    return executed


def _private_kernel_class(folder: Path) -> type[AsyncKernelManager]:
    """Return a kernel manager class with its sockets in `folder`; papermill takes only a class."""

    class PrivateKernel(AsyncKernelManager):
        @override
        def __init__(self, **options: object) -> None:
            place = {"ip": str(folder / "kernel"), "connection_file": str(folder / "kernel.json")}
            super().__init__(transport="ipc", **place, **options)

        @override
        async def _async_start_kernel(self, **options: object) -> None:
            """Keep IPython's files in the folder too, and drop the kernel's shutdown messages."""
            options |= {"env": os.environ | {"IPYTHONDIR": str(folder)}, "cwd": str(NOTEBOOKS)}
            await super()._async_start_kernel(**options, stderr=subprocess.DEVNULL)

        # Jupyter's own classes have this alias too.
        start_kernel = _async_start_kernel

    return PrivateKernel


def to_report_error(
    report: Notebook, cell: int | None, name: str, text: str
) -> errors.SametrackError:
    """Convert a cell's error: project errors as they are, others to a failed cell."""
    # The kernel reports the name of the class only.
    error_class = getattr(errors, name, None)
    if isinstance(error_class, type) and issubclass(error_class, _USER_ERRORS):
        return error_class(text)
    return errors.SametrackError(
        f"the notebook {report.name} failed in cell {cell}: {name}: {text}",
        hint=f"open notebooks/reports/{report.path.name} in Jupyter to investigate",
    )
