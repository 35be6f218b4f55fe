"""The chart kept for good, and set beside the platform: back-fills, and what songs are there.

Work on open stores, for the orchestrator, the command line and the API alike. Not here: reading
one issue (`captures.chart`), the rules (`domain.chart_*`), the history that requests ask for
(`api.reads.chart`).
"""
