"""Page loading in Chromium: its process, its proxy behind the link gate, one visit per page."""
