"""What surrounds the routes: middleware, request context, health, metrics."""
