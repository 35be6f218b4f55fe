"""The API description: OpenAPI, the reference in two languages, links between operations."""
