"""The sounds of the accuracy bench: made tracks, voices and edits."""
