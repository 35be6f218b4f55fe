"""The HTML report of a completed job, as one self-contained file. It computes no results."""
