"""The lake: Delta tables on a folder or an `s3://` address. Append, read as of a moment, evolve."""
