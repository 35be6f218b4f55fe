"""`python -m pipelines.sandbox`: run the sandbox."""

import argparse
from pathlib import Path

from pipelines.sandbox.server.app import SandboxOptions, serve
from pipelines.sandbox.server.switches import MODES, switch_help, switches_of
from pipelines.sandbox.world.content.alterations import ALTERED_SHARE
from pipelines.settings import last_day_of


def _options() -> SandboxOptions:
    reader = argparse.ArgumentParser(
        description="Run the sandbox on loopback.", epilog=switch_help(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    reader.add_argument("--seed", type=int, default=1)
    reader.add_argument("--size", type=float, default=1.0)
    reader.add_argument("--tracks", type=int, default=None)
    reader.add_argument("--port", type=int, default=8790)
    reader.add_argument("--cache", type=Path, default=Path("warehouse/data/sandbox/cache"))
    reader.add_argument("--latency-ms", type=float, default=0.0)
    reader.add_argument("--renderers", type=int, default=2)
    reader.add_argument("--altered-share", type=float, default=ALTERED_SHARE)
    reader.add_argument("--adb-port", type=int, default=None)
    reader.add_argument("--mode", choices=tuple(MODES), default="generous")
    reader.add_argument("--switch", action="append", default=[], metavar="NAME[=VALUE]")
    reader.add_argument("--calendar", default="fixed", metavar="today|fixed|DATE")
    given = vars(reader.parse_args())
    try:
        last_day_of(given["calendar"])
        switches = switches_of(given.pop("mode"), given.pop("switch"))
    except ValueError as exc:
        reader.error(str(exc))
    return SandboxOptions(switches=switches, cache_dir=given.pop("cache"), **given)


if __name__ == "__main__":
    serve(_options())
