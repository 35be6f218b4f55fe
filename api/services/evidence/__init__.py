"""Evidence of a compared pair: its stored numbers, its plot as SVG and PNG, its excerpts."""
