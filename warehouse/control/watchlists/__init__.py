"""Watchlists and their runs as rows of the control store."""
