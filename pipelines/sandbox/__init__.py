"""Sandbox: a synthetic platform on loopback. `world/` generates it, `server/` serves it."""
