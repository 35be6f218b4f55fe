"""The music chart's surfaces: bodies, issues, songs and its ways to say no. Pure, no network."""
