"""Watchlists and their runs in the control store."""
