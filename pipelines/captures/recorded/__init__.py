"""Folders of recorded bodies: written by the live check, read again and turned into shape files."""
