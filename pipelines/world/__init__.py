"""The invented platform: people, tracks, works, sound and truth. Deterministic, no network."""
