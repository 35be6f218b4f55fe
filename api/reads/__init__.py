"""The synchronous reads: what a request asks of the platform or of what was observed before.

Here: freshness, deadlines, answers as documents. Not here: HTTP (`routes`), SQL (`warehouse`),
scans (`pipelines.desk`).
"""
