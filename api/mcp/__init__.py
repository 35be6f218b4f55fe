"""The service as tools for assistants, by the Model Context Protocol. Loaded only when asked for.

Every tool goes through the typed client, so the guard, the limits and the errors are the service's
own. Not here: what an operation does.
"""
