"""Asset checks: of a scan's confirmed videos before ranking, and of every lake table."""
