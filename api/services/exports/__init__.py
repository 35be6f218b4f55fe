"""Exports: the tables of a response, and a table as a file."""
