"""Commands of recorded bodies: the live check writes a folder, the replay reads it."""
