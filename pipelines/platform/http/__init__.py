"""HTTP client of a guest: link gate, rate limits, robots.txt, circuit breaker, capped bodies."""
