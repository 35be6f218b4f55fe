"""The worker: claim jobs, run them, send heartbeats, maintain the stores between jobs."""
