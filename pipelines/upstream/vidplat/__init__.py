"""The platform's surfaces: links, containers, parsers and its ways to say no. Pure, no network."""
