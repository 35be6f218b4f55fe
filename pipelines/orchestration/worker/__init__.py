"""The worker: claim jobs, run them, renew the lease, maintain the stores between jobs."""
