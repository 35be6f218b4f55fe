"""Which tests one of the processes that share them runs in one go."""

from xdist.scheduler import LoadFileScheduling

TOGETHER = (
    ("tests/browser/",),
    ("tests/sandbox/server/",),
    (
        "tests/api/services/test_sandbox_videos_and_chart.py",
        "tests/api/services/test_song_links.py",
        "tests/api/services/test_trends.py",
        "tests/api/services/test_sandbox_users_and_lists.py",
        "tests/captures/sandbox/",
        "tests/catalog/test_catalog_playlists.py",
        "tests/platform/providers/test_public_surfaces.py",
        "tests/platform/providers/test_source_planner.py",
    ),
    ("tests/platform/browser/",),
    ("tests/scan/whole_scans/test_scans.py", "tests/scan/whole_scans/test_resuming.py"),
    ("tests/notebooks/",),
)
"""Folders and files that share a service, platform and worker, or a kernel: one process runs them.
"""


class FilesAndFolders(LoadFileScheduling):  # type: ignore[misc]  # xdist has no types
    """Gives out whole files, and several of them where they share what is expensive to start."""

    def _split_scope(self, nodeid: str) -> str:
        groups = (group[0] for group in TOGETHER if nodeid.startswith(group))
        return next(groups, str(super()._split_scope(nodeid)))
