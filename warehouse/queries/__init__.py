"""Queries of the lake, one module per subject: videos, accounts, captures, results, series."""
