"""Tools for assistants over the Model Context Protocol. Loaded only when enabled.

Every tool uses the typed client, so guard, limits and errors are those of the service. Not here:
what an operation does.
"""
