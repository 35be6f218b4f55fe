"""Watchlists: claim what is due, scan it, compare with the last run, send the digest.

Every scan goes through the scan service as a job of the queue; nothing here scans.
"""
