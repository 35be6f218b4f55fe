"""Generates what is derived from the API description: reference pages and client types.

`python -m api.generate` writes the files; a test holds the committed ones to it.
"""
