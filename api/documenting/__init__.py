"""Writes what is derived from the API description: tables of the documents, types of the client.

`python -m api.documenting` writes the files, a test holds the committed ones to it. No facts here.
"""
