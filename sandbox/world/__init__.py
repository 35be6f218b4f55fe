"""Sandbox world: accounts, tracks, sounds, videos, ground truth. Deterministic, no network."""
