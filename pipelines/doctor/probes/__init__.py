"""Probes of the surfaces: one rate-limited request each, judged by the shape of its payload."""
