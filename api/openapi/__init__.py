"""API description: OpenAPI, the bilingual reference, links between operations."""
