"""The full range of edits: recall as curves, what must stay apart, other tools, and the goals."""
