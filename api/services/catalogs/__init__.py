"""Catalogues: importing, reading, requesting runs."""
