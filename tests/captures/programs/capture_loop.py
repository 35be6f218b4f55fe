"""Capture without end, as fast as allowed, from a line on stdin on until it is closed.

Prints "ready", and in the end how many walks were made.

Usage: capture_loop.py PROFILE PORT HOME MUSIC_ID...
"""

import asyncio
import sys
import threading
from pathlib import Path

from pipelines.captures.session import Captures
from pipelines.platform.profiles import load_profile
from pipelines.platform.providers import build_provider, music_provider_name
from pipelines.platform.providers.provider import ProviderDependencies
from pipelines.settings import Settings
from warehouse.control import open_control
from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.store import open_lake
from warehouse.records.errors import UpstreamError

profile_path, port, home, *music_ids = sys.argv[1:]
READERS = 4


def wait_for_end(is_over: threading.Event) -> None:
    sys.stdin.read()
    is_over.set()


async def capture(captures: Captures, is_over: threading.Event, first: int) -> int:
    """Walk lists and read works, one after the other."""
    done, at = 0, first
    while not is_over.is_set():
        music_id = music_ids[at % len(music_ids)]
        at += 1
        try:
            walk = await captures.walk_music(music_id, limit=40)
            for work in walk.videos[:3]:
                await captures.video(work.aweme_id)
        except UpstreamError as error:
            print(error.type, error.reason, file=sys.stderr)
        done += 1
    return done


async def main() -> int:
    """All readers of this process, over one client."""
    root = Path(home)
    settings = Settings(_env_file=None, profile=profile_path, sandbox_port=int(port))
    profile = load_profile(profile_path, sandbox_port=int(port))
    control = open_control(f"sqlite:///{root / 'control.sqlite'}", world="sandbox")
    lake = open_lake(str(root / "lake"), world="sandbox")
    engine = Engine(lake)
    provider = build_provider(
        music_provider_name(settings),
        ProviderDependencies(settings=settings, profile=profile, control=control, engine=engine),
    )
    print("ready", flush=True)
    sys.stdin.readline()
    is_over = threading.Event()
    threading.Thread(target=wait_for_end, args=(is_over,), daemon=True).start()
    captures = Captures(
        provider=provider, lake=lake, engine=engine, control=control, sounds_dir=root / "sounds"
    )
    async with captures:
        readers = (capture(captures, is_over, 7 * n) for n in range(READERS))
        done = sum(await asyncio.gather(*readers))
    engine.close()
    control.close()
    return done


print(asyncio.run(main()))
