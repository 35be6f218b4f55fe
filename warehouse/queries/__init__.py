"""Queries of the lake, one module per subject: lists, videos, captures, erasures, results."""
