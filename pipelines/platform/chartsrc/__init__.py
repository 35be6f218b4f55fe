"""Parsers of the music chart's surfaces. Pure, no network."""
