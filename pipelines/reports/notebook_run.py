"""Run a notebook with papermill in its own kernel and translate its errors.

The kernel is a child process reached through sockets in a private folder, not through ports. Not
here: rendering the executed notebook (`page.py`).
"""

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import override

import nbformat
import papermill
from jupyter_client.manager import AsyncKernelManager
from nbclient.exceptions import CellTimeoutError, DeadKernelError

from pipelines.reports.catalogue import NOTEBOOKS, Notebook
from warehouse.records import errors
from warehouse.records.errors import InputError, SametrackError, WarehouseError

START_S = 60
CELL_S = 300
"""Timeout of a cell; normal cells take less than a second."""
_KERNEL = "python3"

_USER_ERRORS = (InputError, WarehouseError)
"""Project errors that are passed on as they are; their only argument is a text."""

type ReportProgress = Callable[[str], None]


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
    for cell in notebook.cells:
        cell.metadata.setdefault("tags", [])
    cells = len(notebook.cells) + 1  # papermill adds one

    def tell(*, cell_index: int, **_: object) -> None:
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
                kernel_manager_class=_kernel_in(Path(folder)),
                on_cell_start=tell,
                shutdown_kernel="immediate",
            )
        except papermill.PapermillExecutionError as error:
            raise _to_error(report, error.exec_count, error.ename, error.evalue) from error
        except (DeadKernelError, CellTimeoutError, RuntimeError) as error:
            raise SametrackError(
                f"the kernel of the report {report.name} ended or hung: {type(error).__name__}",
                hint="free some memory, or retry when the machine is less busy",
            ) from error
    return executed


def _kernel_in(folder: Path) -> type[AsyncKernelManager]:
    """Return a kernel manager class with its sockets in `folder`; papermill takes only a class."""

    class PrivateKernel(AsyncKernelManager):
        @override
        def __init__(self, **given: object) -> None:
            place = {"ip": str(folder / "kernel"), "connection_file": str(folder / "kernel.json")}
            super().__init__(transport="ipc", **place, **given)

        @override
        async def _async_start_kernel(self, **given: object) -> None:
            """Keep IPython's files in the folder too, and drop the kernel's shutdown messages."""
            given |= {"env": os.environ | {"IPYTHONDIR": str(folder)}, "cwd": str(NOTEBOOKS)}
            await super()._async_start_kernel(**given, stderr=subprocess.DEVNULL)

        # Jupyter's own classes have this alias too.
        start_kernel = _async_start_kernel

    return PrivateKernel


def _to_error(report: Notebook, cell: int | None, name: str, text: str) -> SametrackError:
    """Convert a cell's error: project errors as they are, others to a failed cell."""
    found = getattr(errors, name, None)
    if isinstance(found, type) and issubclass(found, _USER_ERRORS):
        return found(text)
    return SametrackError(
        f"the notebook {report.name} failed in cell {cell}: {name}: {text}",
        hint=f"open notebooks/reports/{report.path.name} in Jupyter to investigate",
    )
