"""`python -m pipelines.sandbox`: run the sandbox."""

import argparse
from pathlib import Path

from pipelines.sandbox.server.app import SandboxOptions, serve
from pipelines.sandbox.world.content.alterations import ALTERED_SHARE


def _options() -> SandboxOptions:
    reader = argparse.ArgumentParser(description="Run the sandbox on loopback.")
    reader.add_argument("--seed", type=int, default=1)
    reader.add_argument("--size", type=float, default=1.0)
    reader.add_argument("--tracks", type=int, default=None)
    reader.add_argument("--port", type=int, default=8790)
    reader.add_argument("--cache", type=Path, default=Path("warehouse/data/sandbox/cache"))
    reader.add_argument("--latency-ms", type=float, default=0.0)
    reader.add_argument("--renderers", type=int, default=2)
    reader.add_argument("--altered-share", type=float, default=ALTERED_SHARE)
    reader.add_argument("--adb-port", type=int, default=None)
    given = reader.parse_args()
    return SandboxOptions(
        seed=given.seed, size=given.size, port=given.port, cache_dir=given.cache,
        latency_ms=given.latency_ms, tracks=given.tracks, renderers=given.renderers,
        altered_share=given.altered_share, adb_port=given.adb_port,
    )  # fmt: skip


if __name__ == "__main__":
    serve(_options())
