"""The HTML report of a completed job: one self-contained file. Reads results, decides nothing."""
