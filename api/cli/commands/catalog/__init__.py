"""`sametrack catalog`: import tracks, scan those that are due, report them."""

from api.cli.commands.catalog import match, report, run  # noqa: F401 -- they add their commands
from api.cli.commands.catalog.catalog import app

__all__ = ["app"]
