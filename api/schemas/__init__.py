"""Response models, for the API description and for tests."""
