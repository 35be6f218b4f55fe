"""Replay of the archive: parse stored bodies with the current parsers and report differences."""
