"""The front doors: HTTP, console and command line. No Dagster here."""

import sys

_VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
if sys.version_info < (3, 12):  # noqa: UP036 -- later files would end in a syntax error
    sys.exit(f"Sametrack needs Python 3.12 or newer; this is Python {_VERSION}")
