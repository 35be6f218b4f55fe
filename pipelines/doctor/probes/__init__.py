"""Probes of the surfaces: one polite request each, judged by the shape of its payload."""
