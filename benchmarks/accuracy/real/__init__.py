"""Real recordings in the accuracy bench: which there are, what is done to them, and the figures."""
