"""Generates files derived from the API description: reference pages, diagrams, the typed client.

`python -m api.generate` writes the pages, and a test compares the committed ones;
`python -m api.generate.client` makes what git ignores of `api/client`.
"""
