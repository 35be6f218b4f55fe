"""Server of the sandbox on loopback: serves a world as guests of the platform would see it.

`serve` runs it until a signal. Nothing in here is a client, and nothing contacts another host.
"""

from sandbox.server.app import SandboxOptions, create_sandbox, serve

__all__ = ["SandboxOptions", "create_sandbox", "serve"]
