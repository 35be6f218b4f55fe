"""Middleware: guard, rate limit, request bodies, response cache."""
