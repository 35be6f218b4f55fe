"""Which tests one of the processes that share them runs in one go."""

from xdist.scheduler import LoadFileScheduling

TOGETHER = (
    ("tests/browser/",),
    ("tests/integration/sandbox/",),
    ("tests/integration/upstream/",),
    ("tests/integration/scan/test_scans.py", "tests/integration/scan/test_resuming.py"),
    ("tests/notebooks/",),
)
"""Folders and files that share a service, platform and worker, or a kernel: one process runs them.
"""


class FilesAndFolders(LoadFileScheduling):  # type: ignore[misc]  # xdist has no types
    """Gives out whole files, and several of them where they share what is expensive to start."""

    def _split_scope(self, nodeid: str) -> str:
        groups = (group[0] for group in TOGETHER if nodeid.startswith(group))
        return next(groups, str(super()._split_scope(nodeid)))
