"""Watchlists as the API and the command line keep them: changes, YAML files."""
