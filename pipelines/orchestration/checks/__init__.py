"""Asset checks: those of a scan before it ranks, and those of every table of the lake."""
