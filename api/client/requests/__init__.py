"""Builds the request of each operation: method, path, query and body. No I/O."""
