"""Queries of the chart: its issues and songs, and the songs joined with music ids."""
