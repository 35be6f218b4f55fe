"""The stand-in platform: a server on loopback that shows an invented world as guests see one.

`serve` runs it until a signal. Nothing in here is a client, and nothing contacts another host.
"""

from pipelines.sandbox.server import SandboxOptions, create_sandbox, serve

__all__ = ["SandboxOptions", "create_sandbox", "serve"]
