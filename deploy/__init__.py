"""How Sametrack is installed on servers; see docs/deployment.md."""
