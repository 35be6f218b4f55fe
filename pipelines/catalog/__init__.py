"""Catalogues: import up to 10,000 tracks, scan those that are due within a budget, report them.

Scans go through the scan service as queued jobs; nothing here scans.
"""
