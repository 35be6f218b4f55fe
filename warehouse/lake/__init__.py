"""The lake: Delta tables in a folder or at an `s3://` URL. Append, read as of a time, evolve."""
