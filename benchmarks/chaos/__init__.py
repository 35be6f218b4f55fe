"""Faults on purpose: what the service answers, how jobs end, and what is left behind."""
