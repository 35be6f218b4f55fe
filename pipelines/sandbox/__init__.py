"""The sandbox: a stand-in for the platform on loopback. `world/` invents it, `server/` shows it."""
