"""The control store: small state that the processes of a world share, in SQLite or PostgreSQL.

One module of functions per subject; each takes the store that `open_control` opens.
"""

from warehouse.control.database import RESTART_S, ControlStore, open_control

__all__ = ["RESTART_S", "ControlStore", "open_control"]
