"""The synchronous client, generated from `awaiting`."""
