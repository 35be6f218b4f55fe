"""Watchlists for the API and the command line: changes, YAML files."""
