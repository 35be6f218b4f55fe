"""What a world contains: accounts, tracks, sounds, videos, texts."""
