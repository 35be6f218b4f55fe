"""Generates files derived from the API description: reference pages, client types, diagrams.

`python -m api.generate` writes the files; a test compares the committed ones.
"""
