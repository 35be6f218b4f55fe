"""Listening children: every file ends as a sound or a reason; none outlives its parent."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import wait
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path

import psutil
import pytest
from pebble import ProcessPool

from pipelines.audio.decode.decoder_pool import DecoderPool
from pipelines.audio.decode.protocol import DecodeLimits
from pipelines.audio.features.sounds import MeasuredSound, NotComparable
from tests.audio.clips import PATIENT

pytestmark = pytest.mark.full


def pids(pool: DecoderPool) -> list[int]:
    return [child.process.pid for child in pool._children]


async def test_decoder_pool_measures_usual_formats(pool: DecoderPool, sounds: Path) -> None:
    for suffix in ("m4a", "mp3", "ogg", "wav", "flac", "webm"):
        heard = await pool.measure(sounds / f"song.{suffix}")
        assert isinstance(heard, MeasuredSound), suffix
        assert heard.duration_s == pytest.approx(21, abs=0.2), suffix
        assert heard.cpu_ms > 0
        assert len(heard.sha256) == 64


async def test_hostile_files_end_with_a_reason(pool: DecoderPool, sounds: Path) -> None:
    expected = {
        "short.m4a": "too_short",
        "one_sample.wav": "too_short",
        "silent.wav": "silent",
        "constant.wav": "silent",
        "empty.mp3": "file_empty",
        "text.mp4": "undecodable",
        "noise.bin": "undecodable",
        "cut.m4a": "undecodable",
        "list.m3u8": "undecodable",
        "concat.txt": "unsupported_format",
        "missing.m4a": "file_missing",
        ".": "not_a_file",
    }
    heard = await asyncio.gather(*(pool.measure(sounds / name) for name in expected))
    reasons = [one.reason if isinstance(one, NotComparable) else "heard" for one in heard]
    assert dict(zip(expected, reasons, strict=True)) == expected


async def test_a_name_is_never_read_as_a_protocol(
    pool: DecoderPool, sounds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(sounds)
    heard = await pool.measure(Path("concat:song.mp3|song.mp3"))
    assert isinstance(heard, NotComparable)
    assert heard.reason == "file_missing"


async def test_only_the_first_seconds_are_decoded(sounds: Path) -> None:
    with DecoderPool(1, limits=replace(PATIENT, max_seconds=8)) as pool:
        heard = await pool.measure(sounds / "song.m4a")
    assert isinstance(heard, MeasuredSound)
    assert heard.duration_s == pytest.approx(8, abs=0.1)


async def test_memory_has_a_ceiling(sounds: Path) -> None:
    with DecoderPool(1, limits=DecodeLimits(memory_mb=1)) as pool:
        heard = await pool.measure(sounds / "song.wav")
    assert isinstance(heard, NotComparable)
    assert heard.reason in {"out_of_memory", "decoder_crashed"}


@dataclass
class Clock:
    """The real time, so that a busy machine is no reason. `meanwhile` happens once, between a
    request and the look at its time, and says how many seconds that took.
    """

    meanwhile: Callable[[], float] | None = None
    _began_s: float | None = None
    _ahead_s: float = 0.0

    def __call__(self) -> float:
        if self.meanwhile is not None and self._began_s is not None:
            self._ahead_s += self.meanwhile()
            self.meanwhile = self._began_s = None
        elif self.meanwhile is not None:
            self._began_s = time.monotonic()
        return time.monotonic() + self._ahead_s


async def test_hanging_child_costs_its_file_and_the_pool_goes_on(sounds: Path) -> None:
    clock = Clock()
    with DecoderPool(1, limits=PATIENT, clock=clock) as pool:
        assert isinstance(await pool.measure(sounds / "song.mp3"), MeasuredSound)
        os.kill(pids(pool)[0], signal.SIGSTOP)
        clock.meanwhile = lambda: PATIENT.wall_s + 1
        stopped = await pool.measure(sounds / "song.mp3")
        assert pids(pool) == []  # another starts with the next file: none does for a pool that ends
        after = await pool.measure(sounds / "song.mp3")
    assert stopped == NotComparable(sha256=None, reason="decoder_timed_out")
    assert isinstance(after, MeasuredSound)


async def test_child_that_dies_at_work_costs_its_file_and_the_pool_goes_on(sounds: Path) -> None:
    clock = Clock()
    with DecoderPool(1, limits=PATIENT, clock=clock) as pool:
        assert isinstance(await pool.measure(sounds / "song.mp3"), MeasuredSound)
        child = pids(pool)[0]
        os.kill(child, signal.SIGSTOP)  # holds the request until it is killed

        def kill() -> float:
            os.kill(child, signal.SIGKILL)
            return 0.0

        clock.meanwhile = kill
        died = await pool.measure(sounds / "song.mp3")
        after = await pool.measure(sounds / "song.mp3")
    assert died == NotComparable(sha256=None, reason="decoder_crashed")
    assert isinstance(after, MeasuredSound)


@pytest.mark.soak  # a child that died at work is noticed in the same place
async def test_child_that_died_idle_blames_no_file(sounds: Path) -> None:
    with DecoderPool(1, limits=PATIENT) as pool:
        wait(pool.start())
        child = psutil.Process(pids(pool)[0])
        child.kill()
        child.wait()
        assert isinstance(await pool.measure(sounds / "song.mp3"), MeasuredSound)


async def test_no_child_runs_before_a_file_needs_it(sounds: Path) -> None:
    with DecoderPool(2, limits=PATIENT) as pool:
        assert pids(pool) == []
        await pool.measure(sounds / "song.mp3")
        assert len(pids(pool)) == 1


def test_a_pool_can_be_closed_while_its_children_start() -> None:
    with DecoderPool(2, limits=PATIENT) as pool:
        started = pool.start()
    assert all(one.done() for one in started)


def test_a_pool_whose_children_cannot_be_started_says_so_and_leaves_no_thread(
    sounds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = set(threading.enumerate())
    monkeypatch.setattr(sys, "executable", str(tmp_path / "gone"))
    with DecoderPool(2) as pool, pytest.raises(FileNotFoundError):
        pool.submit(sounds / "song.mp3").result()
    with DecoderPool(2) as pool:
        failed = pool.start()
        assert all(isinstance(one.exception(), FileNotFoundError) for one in failed)
    assert set(threading.enumerate()) <= before


async def test_closing_the_pool_leaves_no_child(sounds: Path) -> None:
    with DecoderPool(2, limits=PATIENT) as pool:
        wait(pool.start())
        await pool.measure(sounds / "song.mp3")
        children = [psutil.Process(pid) for pid in pids(pool)]
    assert len(children) == 2
    assert not any(child.is_running() for child in children)


def _hear_inside(path: Path) -> str:
    async def measure_clip() -> str:
        with DecoderPool(1, limits=PATIENT) as pool:
            heard = await pool.measure(path)
        return "heard" if isinstance(heard, MeasuredSound) else heard.reason

    return asyncio.run(measure_clip())


def test_pool_works_inside_a_daemonic_worker_process(sounds: Path) -> None:
    with ProcessPool(max_workers=1, context=get_context("spawn")) as workers:
        assert workers.schedule(_hear_inside, args=[sounds / "song.mp3"]).result() == "heard"


_PARENT = """
import sys
from concurrent.futures import wait
from pipelines.audio.decode.decoder_pool import DecoderPool
with DecoderPool(2) as pool:
    wait(pool.start())
    print(*(child.process.pid for child in pool._children), flush=True)
    sys.stdin.read()
"""


def test_killing_the_parent_leaves_no_child() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        children = [psutil.Process(int(pid)) for pid in parent.stdout.readline().split()]
        assert len(children) == 2
        parent.kill()
        parent.wait()
        _, alive = psutil.wait_procs(children, timeout=300)
    assert alive == []


async def test_children_get_no_secret_and_one_thread(
    sounds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIDPLAT_COOKIE", "invented")
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    with DecoderPool(1, limits=PATIENT) as pool:
        await pool.measure(sounds / "short.m4a")  # before it answers, it may be a copy of us
        environment = psutil.Process(pids(pool)[0]).environ()
    assert "VIDPLAT_COOKIE" not in environment
    assert environment["OMP_NUM_THREADS"] == "1"
