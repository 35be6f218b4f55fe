"""Synchronous reads: freshness, deadlines, results as documents.

Not here: HTTP (`api/routes`), SQL (`warehouse`), scans (`pipelines.scan.service`).
"""
