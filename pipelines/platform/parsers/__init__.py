"""Parsers of the platform's surfaces: bytes to records, one module per surface. Pure, no
network.
"""
