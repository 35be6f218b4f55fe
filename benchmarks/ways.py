"""The way of a request through the code, from real calls: `python -m benchmarks.ways list`.

A way is run twice, so that imports and what is made once do not count: first with one subject, then
traced with another. It prints the files in the order in which they are entered, with the functions
that ran in each, and how deep their calls were nested. `docs/architecture.md` draws from it.
"""

import argparse
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType

import httpx2
from starlette.testclient import TestClient
from typer.testing import CliRunner

from api.cli.main import app as command_line
from api.process import build_app_from_settings
from api.services.job_feed import JobBroadcaster
from api.settings import ApiSettings
from tests.deployment import Deployment, open_deployment

ROOT = Path(__file__).parents[1]
PRODUCT = tuple(f"{ROOT / package}/" for package in ("api", "pipelines", "warehouse"))
SEED, SIZE = 7, 0.3
APP = "/api/v1/vidplat/app/v3"


@dataclass
class CallTrace:
    """Functions of the product that were called.

    Attributes:
        files: Names of functions by file, both in the order of their first call.
        depth: The largest number of functions of the product that waited for each other in one
            thread.
        chain: Those functions, outermost first, as `file: function`.
    """

    files: dict[str, dict[str, None]] = field(default_factory=dict)
    depth: int = 0
    chain: tuple[str, ...] = ()

    @property
    def function_count(self) -> int:
        return sum(len(functions) for functions in self.files.values())

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record calls in all threads."""
        threading.setprofile_all_threads(self._on_event)
        try:
            yield
        finally:
            threading.setprofile_all_threads(None)

    def _on_event(self, frame: FrameType, event: str, _argument: object) -> None:
        if event != "call" or not _is_product(frame.f_code):
            return
        file = frame.f_code.co_filename.removeprefix(f"{ROOT}/")
        self.files.setdefault(file, {})[frame.f_code.co_qualname] = None
        frames = _product_frames(frame)
        if len(frames) > self.depth:
            self.depth = len(frames)
            self.chain = tuple(
                f"{code.co_filename.removeprefix(f'{ROOT}/')}: {code.co_qualname}"
                for code in reversed(frames)
            )

    def text(self, *, has_functions: bool) -> str:
        lines = [
            f"{len(self.files)} files, {self.function_count} functions, {self.depth} deep",
            *(
                f"  {file}  {', '.join(functions) if has_functions else len(functions)}"
                for file, functions in self.files.items()
            ),
            "deepest:",
            *(f"  {step}" for step in self.chain),
        ]
        return "\n".join(lines)


def _is_product(code: CodeType) -> bool:
    # modules, lambdas and comprehensions are no functions that somebody reads by name
    return code.co_filename.startswith(PRODUCT) and not code.co_name.startswith("<")


def _product_frames(frame: FrameType) -> list[CodeType]:
    frames = []
    step: FrameType | None = frame
    while step is not None:
        if _is_product(step.f_code):
            frames.append(step.f_code)
        step = step.f_back
    return frames


def trace_list(deployment: Deployment, client: TestClient) -> CallTrace:
    """A hashtag's list that nobody has read: one page of the platform, then an answer."""
    path = f"{APP}/fetch_hashtag_video_list"

    def read(ch_id: str) -> None:
        _check(client.get(path, params={"ch_id": ch_id, "count": 5}))

    return _traced(read, *_hashtags(deployment))


def trace_column(deployment: Deployment, client: TestClient) -> CallTrace:
    """A video's detail that nobody has read: from the platform's JSON to what the console shows."""
    path = f"{APP}/fetch_multi_video"
    tracks = deployment.world("/_world/tracks")["tracks"]
    return _traced(
        lambda aweme_id: _check(client.post(path, json=[aweme_id])),
        tracks[0]["aweme_id"],
        tracks[1]["aweme_id"],
    )


def trace_watchlist(deployment: Deployment, _client: TestClient) -> CallTrace:
    """`watchlist add` of a hashtag, and a run of it from its begin to its digest."""

    def add_and_run(ch_id: str) -> None:
        _command("watchlist", "add", ch_id, "--hashtag", ch_id, "--every", "every 6 hours")
        _command("watchlist", "run", ch_id)

    return _traced(add_and_run, *_hashtags(deployment))


def trace_catalog(deployment: Deployment, _client: TestClient) -> CallTrace:
    """`catalog report` of a catalogue with one track, in all its forms."""
    for track in deployment.world("/_world/tracks")["tracks"][:2]:
        _command("catalog", "import", track["music_id"], track["music_id"])
    out = str(deployment.root / "reports")
    first, second = (
        track["music_id"] for track in deployment.world("/_world/tracks")["tracks"][:2]
    )
    return _traced(lambda name: _command("catalog", "report", name, "--out", out), first, second)


WAYS: Mapping[str, Callable[[Deployment, TestClient], CallTrace]] = {
    "list": trace_list,
    "column": trace_column,
    "watchlist": trace_watchlist,
    "catalog": trace_catalog,
}


def _traced(run: Callable[[str], object], warm_up: str, subject: str) -> CallTrace:
    run(warm_up)
    trace = CallTrace()
    with trace.recording():
        run(subject)
    return trace


def _hashtags(deployment: Deployment) -> tuple[str, str]:
    first, second = deployment.world("/_world/hashtags?limit=2")["hashtags"]
    return first["ch_id"], second["ch_id"]


def _check(response: httpx2.Response) -> None:
    if response.is_error:
        raise SystemExit(response.text)


def _command(*words: str) -> None:
    result = CliRunner().invoke(command_line, list(words))
    if result.exit_code:
        raise SystemExit(f"{' '.join(words)}: {result.output} {result.exception}")


def main() -> None:
    """Trace one of the ways and print it."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("way", choices=WAYS)
    reader.add_argument("--functions", action="store_true", help="name them, do not count them")
    given = reader.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sametrack-ways-")))
        deployment = stack.enter_context(open_deployment(folder, folder / "sounds"))
        deployment.start_platform(seed=SEED, size=SIZE)
        os.environ |= deployment.environment()  # of commands
        settings = ApiSettings.model_validate(
            {name.lower(): text for name, text in deployment.environment().items()}
        )
        app = stack.enter_context(
            build_app_from_settings(settings, feed=JobBroadcaster(limit=settings.event_streams_max))
        )
        client = stack.enter_context(TestClient(app, base_url="http://127.0.0.1"))
        sys.stdout.write(
            f"{WAYS[given.way](deployment, client).text(has_functions=given.functions)}\n"
        )


if __name__ == "__main__":
    main()
