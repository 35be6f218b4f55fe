"""The chart kept for good: back-fills, and which music ids are its songs.

Work on open stores, for Dagster, the command line and the API alike.
"""
