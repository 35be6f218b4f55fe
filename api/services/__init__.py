"""What routes call: jobs, batches, evidence, exports, reports, watchlists. No HTTP here."""
