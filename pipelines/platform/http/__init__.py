"""The HTTP client of a guest: link gate, politeness, robots.txt, circuit breaker, capped bodies."""
