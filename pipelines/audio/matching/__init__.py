"""Compare two sounds: alignment, edit hypotheses, scores and the verdict."""
