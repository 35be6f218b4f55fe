"""The stand-in platform, on loopback: what tests, demos and pages read instead of a public host.

`world/` draws a deterministic world, `server/` serves it as a guest would see it, `mock/` answers
from it without a server. No product package imports this one.
"""
