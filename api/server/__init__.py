"""Everything around the routes: middleware, request context, health, metrics."""
