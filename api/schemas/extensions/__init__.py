"""Response models of the extension operations."""
