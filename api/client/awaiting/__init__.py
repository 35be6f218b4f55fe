"""The client that awaits its answers."""
