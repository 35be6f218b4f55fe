"""Synchronous reads: freshness, deadlines, answers as documents.

Not here: HTTP (`routes`), SQL (`warehouse`), scans (`pipelines.scan.service`).
"""
