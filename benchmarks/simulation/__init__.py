"""A seeded simulation of queue, worker and politeness in one process, without real time."""
