"""Queries of lists over time: the union of all captures of a list, and its pages."""
