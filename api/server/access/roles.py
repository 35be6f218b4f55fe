"""Roles of callers, and the role that an operation of the service requires.

A role includes those below it. A read changes nothing here, and requests from the platform only
what it returns.
"""

import re
from enum import IntEnum

from api.settings import MCP_PATH

READING = frozenset({"GET", "HEAD", "OPTIONS"})
_APP = "/api/v1/vidplat/app/v3"


class Role(IntEnum):
    """What a caller may do: see data, start and stop scans, or operate the installation."""

    READ = 1
    SCAN = 2
    OPERATE = 3

    @property
    def word(self) -> str:
        """The name of the role in token files and responses."""
        return self.name.lower()


# Requests whose role does not follow from their method.
_BY_OPERATION: tuple[tuple[frozenset[str], re.Pattern[str], Role], ...] = (
    # These reads start a job, or join one.
    (READING, re.compile(f"{_APP}/fetch_music_hot_videos"), Role.SCAN),
    (READING, re.compile(f"{_APP}/discover_music_related_videos"), Role.SCAN),
    (frozenset({"POST"}), re.compile(f"{_APP}/fetch_music_hot_videos_batch"), Role.SCAN),
    (frozenset({"POST"}), re.compile(f"{_APP}/music_collection_jobs"), Role.SCAN),
    (frozenset({"DELETE"}), re.compile(f"{_APP}/music_collection_jobs/[^/]+"), Role.SCAN),
    (frozenset({"POST"}), re.compile("/api/v1/sametrack/watchlists/[^/]+/runs"), Role.SCAN),
    # Addresses and limits of the installation.
    (READING, re.compile("/api/v1/sametrack/settings"), Role.OPERATE),
    (READING, re.compile("/api/v1/sametrack/alert_channels"), Role.OPERATE),
    (frozenset({"POST"}), re.compile("/api/v1/sametrack/catalogs/[^/]+/tracks"), Role.SCAN),
    (frozenset({"POST", "DELETE"}), re.compile("/api/v1/sametrack/catalogs/[^/]+/runs"), Role.SCAN),
    # Verdicts of users, on evidence and on songs.
    (frozenset({"POST"}), re.compile("/api/v1/sametrack/comparisons/[^/]+/annotations"), Role.SCAN),
    (frozenset({"POST"}), re.compile("/api/v1/sametrack/chart/(links|judge)"), Role.SCAN),
    (frozenset({"POST"}), re.compile("/api/v1/sametrack/notes"), Role.SCAN),
    # Read-only links; the list holds addresses that open without a token.
    (READING | {"POST"}, re.compile("/api/v1/sametrack/shared"), Role.SCAN),
    (frozenset({"DELETE"}), re.compile("/api/v1/sametrack/shared/[^/]+"), Role.SCAN),
    # These have a body, but read.
    (frozenset({"POST"}), re.compile("/api/v1/vidplat/(web|app/v3)/fetch_multi_video"), Role.READ),
    (frozenset({"POST"}), re.compile("/api/v1/vidplat/search/[^/]+"), Role.READ),
    (frozenset({"POST"}), re.compile("/api/v1/sametrack/sql(/export)?"), Role.READ),
)


def role_named(word: str) -> Role | None:
    """Return the role of this name, or None."""
    return next((role for role in Role if role.word == word), None)


def required_role(method: str, path: str, *, tools: Role = Role.READ) -> Role:
    """Return the role that a request to the service requires.

    Args:
        method: Request method.
        path: Request path.
        tools: Role of the tools for assistants, which have one path for all they do.
    """
    if path.startswith(MCP_PATH):
        return tools
    for methods, pattern, role in _BY_OPERATION:
        if method in methods and pattern.fullmatch(path):
            return role
    # Unlisted changes need the highest role: a new operation is closed until it is listed.
    return Role.READ if method in READING else Role.OPERATE
