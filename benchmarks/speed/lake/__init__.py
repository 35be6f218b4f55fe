"""Benches of the lake: many rows, maintenance, weeks of scans."""
