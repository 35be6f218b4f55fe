"""Covers and avatars as small files, read from the platform once."""
