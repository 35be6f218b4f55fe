"""Benches of the service: reads, polls, the console."""
