"""Bodies for bug reports: what the parsers make of one, and one without names of anybody."""
