"""Middleware: guard, rate limit, request bodies, compression, response cache."""
