"""A kernel that runs one notebook after the other: loading the libraries takes longer than one."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from papermill.iorw import load_notebook_node
from papermill.parameterize import parameterize_notebook

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Kernel:
    """Its notebooks have nothing left of the one before."""

    client: NotebookClient

    def run(self, notebook: Path, given: Mapping[str, object], **environment: str) -> Any:
        """A notebook with its outputs, run in its folder as papermill would."""
        found = load_notebook_node(str(notebook))
        assert found.metadata.kernelspec.name == self.client.kernel_name  # as papermill asks for
        run = parameterize_notebook(found, dict(given), report_mode=False)
        begin = (
            "%reset -f\nimport os\n__spec__ = None  # multiprocessing reads it\n"
            f"os.environ.update({environment!r})\nos.chdir({str(notebook.parent)!r})"
        )
        run.cells.insert(0, nbformat.v4.new_code_cell(begin))  # type: ignore[no-untyped-call]
        self.client.nb = run
        self.client.reset_execution_trackers()
        for number, cell in enumerate(run.cells):
            self.client.execute_cell(cell, number)
        del run.cells[0]
        return run


@contextmanager
def open_kernel(folder: Path) -> Iterator[Kernel]:
    client = NotebookClient(
        nbformat.v4.new_notebook(),  # type: ignore[no-untyped-call]
        kernel_name="python3", timeout=600, resources={"metadata": {"path": str(folder)}},
    )  # fmt: skip
    own = {"PYTHONPATH": str(ROOT), "IPYTHONDIR": str(folder)}
    with client.setup_kernel(env={**os.environ, **own}):
        yield Kernel(client)
