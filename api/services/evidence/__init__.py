"""Evidence of a compared pair: stored measurements, its plot as SVG and PNG, audio excerpts."""
