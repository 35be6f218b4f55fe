"""Response models of our own operations."""
