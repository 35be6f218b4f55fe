"""Collect, listen, conclude: the scan graph and everything below it."""
