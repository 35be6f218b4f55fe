"""Replay of the archive: kept bodies read again with today's parsers, and what would change."""
