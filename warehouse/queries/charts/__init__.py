"""Reads of the chart: its issues and songs, and the songs beside music ids of the platform."""
