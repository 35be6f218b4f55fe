"""The client that blocks, generated from `awaiting`."""
