"""Which tests one of the processes that share them runs in one go."""

from xdist.scheduler import LoadFileScheduling

TOGETHER = (
    "tests/browser/", "tests/integration/sandbox/", "tests/integration/upstream/",
    "tests/notebooks/",
)  # fmt: skip
"""Folders whose files share a service, platform and worker, or a kernel: one process runs all."""


class FilesAndFolders(LoadFileScheduling):  # type: ignore[misc]  # xdist has no types
    """Gives out whole files, and whole folders where files share what is expensive to start."""

    def _split_scope(self, nodeid: str) -> str:
        folders = (folder for folder in TOGETHER if nodeid.startswith(folder))
        return next(folders, str(super()._split_scope(nodeid)))
