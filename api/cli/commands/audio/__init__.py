"""`sametrack audio`: compare files, explain a comparison, annotate it."""
