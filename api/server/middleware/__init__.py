"""The layers around the routes: guard, authentication, rate limit, bodies, compression, cache."""
