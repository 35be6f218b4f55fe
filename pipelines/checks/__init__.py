"""Asset checks: those that a scan runs before it ranks, and those of every table of the lake."""
