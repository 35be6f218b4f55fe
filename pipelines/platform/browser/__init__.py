"""Chromium as a page loader: its process, its proxy behind the link gate, one visit per page."""
