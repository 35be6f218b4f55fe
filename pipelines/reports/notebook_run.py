"""Running a notebook: papermill with a kernel of its own, and what its errors mean.

The kernel is a child process that is reached by sockets in a private folder, not by ports. Not
here: what becomes of the executed notebook (`page`).
"""

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, override

import nbformat
import papermill
from jupyter_client.manager import AsyncKernelManager
from nbclient.exceptions import CellTimeoutError, DeadKernelError

from pipelines.reports.catalogue import NOTEBOOKS, Notebook
from warehouse.records import errors
from warehouse.records.errors import InputError, SametrackError, WarehouseError

START_S = 60
CELL_S = 300
"""No cell of ours takes seconds; a kernel that hangs is ended."""
_KERNEL = "python3"

_PLAIN = (InputError, WarehouseError)
"""Errors of ours that a notebook raises; they carry a text alone."""

type Progress = Callable[[str], None]


def run_notebook(report: Notebook, parameters: Mapping[str, object], *, progress: Progress) -> Any:
    """The executed notebook, as nbformat has it. The one on disk stays as it is.

    Raises:
        InvalidParameterError: The notebook itself refuses a parameter.
        WarehouseError: The lake cannot be opened or read.
        SametrackError: A cell failed otherwise.
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
            return papermill.execute_notebook(
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
            raise _named(report, error.exec_count, error.ename, error.evalue) from error
        except (DeadKernelError, CellTimeoutError, RuntimeError) as error:
            raise SametrackError(
                f"the kernel of the report {report.name} ended or hung: {type(error).__name__}",
                hint="free some memory, or try again when the machine is less busy",
            ) from error


def _kernel_in(folder: Path) -> type[AsyncKernelManager]:
    """Managers of kernels whose sockets lie in a folder; what it has to know, its class brings."""

    class PrivateKernel(AsyncKernelManager):
        @override
        def __init__(self, **given: Any) -> None:
            place = {"ip": str(folder / "kernel"), "connection_file": str(folder / "kernel.json")}
            super().__init__(transport="ipc", **place, **given)

        @override
        async def _async_start_kernel(self, **given: Any) -> None:
            """What IPython keeps lies there, too; what it says of its own end concerns nobody."""
            given |= {"env": os.environ | {"IPYTHONDIR": str(folder)}, "cwd": str(NOTEBOOKS)}
            await super()._async_start_kernel(**given, stderr=subprocess.DEVNULL)

        # Jupyter's own classes name it so, too.
        start_kernel = _async_start_kernel

    return PrivateKernel


def _named(report: Notebook, cell: int | None, name: str, text: str) -> SametrackError:
    """An error of ours as itself; any other as a failed cell."""
    found = getattr(errors, name, None)
    if isinstance(found, type) and issubclass(found, _PLAIN):
        return found(text)
    return SametrackError(
        f"the notebook {report.name} failed in cell {cell}: {name}: {text}",
        hint=f"open notebooks/{report.path.name} in Jupyter to look into it",
    )
