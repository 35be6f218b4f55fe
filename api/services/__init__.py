"""Services behind the routes: jobs, batches, evidence, exports, reports, watchlists. No
HTTP here.
"""
