"""Middleware: guard, authentication, rate limit, request bodies, compression, response cache."""
