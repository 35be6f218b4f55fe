"""Watchlists: claim due runs, scan their entries, compare with the last run, send a digest.

Scans go through the scan service as queued jobs; nothing here scans.
"""
